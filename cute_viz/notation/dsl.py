"""The Python DSL's source -> syntax tree, by Python's own grammar; nothing is executed or imported."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from cute_viz.errors import LimitError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.scopes import parameter, unread
from cute_viz.notation.syntax import Apply, Arith, Blank, Call, Index, Keyword, Name, Node, Number, Sequence, Statement, Word

_STRONG = re.compile(
    r"\b(stride|order|mode|tiler|coord|proj|trg_shape|target_profile|atom_layout_mnk)\s*=[^=]|\bNone\b|^\s*(from|import|def)\s",
    re.M,
)

# Parameters by their names in the DSL, in the order in which our operations take them.
PARAMETERS = {
    "make_layout": ("shape", "stride"),
    "make_ordered_layout": ("shape", "order"),
    "make_identity_layout": ("shape",),
    "make_identity_tensor": ("shape",),
    "make_composed_layout": ("inner", "offset", "outer"),
    "make_swizzle": ("b", "m", "s"),
    "make_layout_tv": ("thr_layout", "val_layout"),
    "make_tiled_copy_tv": ("atom", "thr_layout", "val_layout"),
    "make_tiled_copy": ("atom", "layout_tv", "tiler_mn"),
    "make_tiled_copy_A": ("atom", "tiled_mma"),
    "make_tiled_copy_B": ("atom", "tiled_mma"),
    "make_tiled_copy_C": ("atom", "tiled_mma"),
    "make_tiled_copy_S": ("atom", "tiled_copy"),
    "make_tiled_copy_D": ("atom", "tiled_copy"),
    "make_cotiled_copy": ("atom", "atom_layout_tv", "data_layout"),
    "make_tiled_mma": ("op_or_atom", "atom_layout_mnk", "permutation_mnk"),
    "tile_to_shape": ("atom", "trg_shape", "order"),
    "local_tile": ("input", "tiler", "coord", "proj"),
    "local_partition": ("target", "tiler", "index", "proj"),
    "group_modes": ("input", "begin", "end"),
    "coalesce": ("input", "target_profile"),
    "filter_zeros": ("input", "target_profile"),
    "create_tma_multicast_mask": ("cta_layout_vmnk", "cta_coord_vmnk", "mcast_mode"),
    "complement": ("input", "cotarget"),
    "composition": ("lhs", "rhs"),
    "slice_": ("src", "coord"),
    "dice": ("src", "dicer"),
    "crd2idx": ("coord", "layout"),
    "idx2crd": ("idx", "shape"),
    "append": ("input", "elem"),
    "prepend": ("input", "elem"),
    "recast_layout": ("new_type_bits", "old_type_bits", "src_layout"),
    **{f"{kind}_divide": ("target", "tiler") for kind in ("logical", "zipped", "tiled", "flat")},
    **{f"{kind}_product": ("block", "tiler") for kind in ("logical", "zipped", "tiled", "flat", "blocked", "raked")},
}
# Where the DSL's order of operands is another one than C++'s: positions in the DSL's call.
REORDERED = {"slice_": (1, 0), "dice": (1, 0), "recast_layout": (2, 1, 0), "repeat_like": (1, 0)}
# Another operation under the same name.
RENAMED = {"slice_": "slice", "make_tiled_copy": "make_tiled_copy_impl", "make_tiled_copy_tv": "make_tiled_copy"}
RENAMED |= {"is_congruent": "congruent", "is_weakly_congruent": "weakly_congruent"}


def operation(name: str) -> str:
    """The operation that a name of the DSL is for `algebra.ops.find`, `dsl.NAME` where its compiler computes another value.

    >>> operation("slice_"), operation("raked_product"), operation("group_modes")
    ('slice', 'dsl.raked_product', 'dsl.group_modes')
    """
    from cute_viz.algebra.dsl import DIFFERENCES
    from cute_viz.algebra.ops import ALIASES

    name = RENAMED.get(name, name)
    return f"dsl.{name}" if ALIASES.get(name, name) in DIFFERENCES else name


_BITS = re.compile(r"(?:.*\.)?(?:Float|BFloat|Int|Uint|TFloat)(\d+)\w*\.width")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")  # as Python counts lines: a form feed ends none
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "mod"}


def is_dsl(text: str) -> bool:
    """Whether a text is the Python DSL's source: its grammar reads it, and keywords or module names show it.

    >>> is_dsl("cute.make_layout((4,8), stride=(8,1))"), is_dsl("composition((4,8):(8,1), 4:2)")
    (True, False)
    """
    if _STRONG.search(text) is None and not re.search(r"\b(cute|cutlass)\.\w", text):
        return False
    try:
        _tree(text)
    except (NotationError, LimitError):
        return bool(_STRONG.search(text)) and ";" not in text and "::" not in text and not re.search(r"\d\)?:\(?_?\d", text)
    return True


def parse_dsl(text: str) -> list[Statement]:
    """The statements of a piece of DSL source; bodies of functions and branches are read through.

    >>> [s.name for s in parse_dsl("a = cute.make_layout(8)\\nb = cute.size(a)")]
    ['a', 'b']
    """
    tree, shift = _tree(text)
    out: list[Statement] = []
    _PythonNodes(text, shift).block(tree.body, out)
    if all(statement.lost for statement in out):
        raise NotationError(
            "there is nothing to read", text=text, span=Span(0, len(text)), hint="example: cute.make_layout((4, 8))"
        )
    return out


def _tree(text: str) -> tuple[ast.Module, int]:
    """Python's tree of the text, and how many lines were put before it (one, where it is indented)."""
    if len(text) > limit("source"):
        raise over("source", f"the source has {len(text)} characters")
    depth = deepest = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    if deepest > limit("nesting") or re.search(r"[-+~]{64}|(\bnot\s+){64}", text):
        raise over("nesting", "brackets or signs nested too deeply")
    indented = re.match(r"\s*\n?[ \t]+\S", text) is not None
    source = "if 1:\n" + text if indented else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source), int(indented)
    except SyntaxError as error:
        line = max(1, (error.lineno or 1) - int(indented))
        start = sum(map(len, _LINE.findall(text)[: line - 1])) + max(0, (error.offset or 1) - 1)
        start = min(start, max(0, len(text) - 1))
        raise NotationError(f"this is not Python: {error.msg}", text=text, span=Span(start, start + 1)) from None
    except (ValueError, RecursionError, MemoryError):
        raise NotationError("this is not Python source", text=text, span=Span(0, 1)) from None


def _stored(node: ast.AST) -> list[str]:
    every = list(ast.walk(node))
    names = [item.id for item in every if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)]
    return names + [item.asname or item.name for item in every if isinstance(item, ast.alias)]


class _PythonNodes:
    """Python's nodes as ours, with the spans of the text."""

    def __init__(self, text: str, shift: int) -> None:
        self.text = text
        self.shift = shift
        self.lines = _LINE.findall(text) or [""]
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.scope: tuple[int, ...] = ()
        self.region: tuple[int, ...] = ()
        self.blocks = 0

    def span(self, node: Any) -> Span:
        return Span(self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset))

    def offset(self, line: int, column: int) -> int:
        """Python counts columns in UTF-8 bytes."""
        line = max(1, min(line - self.shift, len(self.lines)))
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + column

    def block(self, body: list[ast.stmt], out: list[Statement]) -> None:
        """The statements of a body; of functions, classes and branches what they hold, of others the names that they change."""
        for node in body:
            first = len(out)
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.assign(target, node.value, node, out)
            elif isinstance(node, ast.AnnAssign):  # without a value it says a type, no more
                if node.value is None:
                    continue
                self.assign(node.target, node.value, node, out)
            elif isinstance(node, ast.AugAssign):
                self.assign(node.target, ast.copy_location(ast.BinOp(node.target, node.op, node.value), node.value), node, out)
            elif isinstance(node, (ast.Expr, ast.Return)) and node.value is not None:
                if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):  # a docstring
                    out.append(self.statement(None, node.value, node))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.function(node, out)
                continue
            elif isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                self.branches(node, out)
                continue
            bound = {statement.name for statement in out[first:]}
            self.lose(node, set(_stored(node)) - bound, out)
            for statement in out[first:]:
                statement.scope, statement.region = self.scope, self.region

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, out: list[Statement]) -> None:
        """What a function or a class holds, its parameters without values."""
        outer = self.scope, self.region
        self.blocks += 1
        self.scope, self.region = (*self.scope, self.blocks), (*self.region, self.blocks)
        if not isinstance(node, ast.ClassDef):
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                error = parameter(argument.arg, self.text, self.span(argument))
                out.append(self.lost(argument.arg, argument, error, declares=True))
        self.block(node.body, out)
        self.scope, self.region = outer

    def branches(self, node: ast.If | ast.For | ast.While | ast.With | ast.Try, out: list[Statement]) -> None:
        """The bodies of a statement, each in a region of its own where it may be skipped or repeated."""
        heads = [getattr(node, key, None) for key in ("target", "test", "iter")]
        items = getattr(node, "items", [])
        stored = {name for head in (*heads, *items) if head is not None for name in _stored(head)}
        self.lose(node, stored, out)
        handlers = [handler.body for handler in getattr(node, "handlers", [])]
        outer = self.region
        for body in (node.body, *handlers, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
            if not isinstance(node, ast.With):
                self.blocks += 1
                self.region = (*outer, self.blocks)
            self.block(body, out)
            self.region = outer

    def lose(self, node: ast.stmt, names: set[str], out: list[Statement]) -> None:
        """Names that a statement binds to what is not read here."""
        for name in sorted(names):
            out.append(self.lost(name, node, unread(name, self.text, self.span(node)), declares=False))

    def lost(self, name: str, node: Any, error: NotationError, *, declares: bool) -> Statement:
        out = Statement(name, None, self.span(node), "", error)
        out.scope, out.region, out.lost, out.declares = self.scope, self.region, True, declares
        return out

    def assign(self, target: ast.expr, value: ast.expr, node: ast.stmt, out: list[Statement]) -> None:
        """`a = x`, `self.a = x`, `a, b = x`."""
        if isinstance(target, (ast.Tuple, ast.List)):
            whole = self.statement(None, value, node)
            for n, item in enumerate(target.elts):
                if whole.value is None:
                    out.append(Statement(self.dotted(item), None, whole.span, whole.word, whole.error))
                else:
                    entry = Index(whole.span, whole.value, Number(whole.span, n, False))
                    out.append(Statement(self.dotted(item), entry, whole.span, whole.word))
            return
        out.append(self.statement(self.dotted(target), value, node))

    def statement(self, name: str | None, value: ast.expr, node: ast.stmt) -> Statement:
        span = self.span(node)
        word = re.match(r"[\w.]*", self.text[self.offset(value.lineno, value.col_offset) :])
        try:
            return Statement(name, self.node(value), span, word.group() if word else "")
        except NotationError as error:
            return Statement(name, None, span, word.group() if word else "", error)

    def dotted(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute) and (head := self.dotted(node.value)):
            return f"{head}.{node.attr}"
        return None

    def node(self, node: ast.expr) -> Node:
        span = self.span(node)
        if isinstance(node, ast.Constant):
            return self.constant(node, span)
        if isinstance(node, (ast.Tuple, ast.List)):
            return Sequence(span, "tuple", tuple(map(self.node, node.elts)))
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.name(node, span)
        if isinstance(node, ast.Call):
            return self.call(node, span)
        if isinstance(node, ast.Subscript):
            return Index(span, self.node(node.value), self.node(node.slice))
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return Arith(span, _OPERATORS[type(node.op)], self.node(node.left), self.node(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.node(node.operand)
            return (
                Number(span, -value.value, False) if isinstance(value, Number) else Arith(span, "-", Number(span, 0, False), value)
            )
        what = type(node).__name__
        raise NotationError(
            f"Python's {what} is not supported here", text=self.text, span=span, hint="calls, tuples, integers and names are"
        )

    def constant(self, node: ast.Constant, span: Span) -> Node:
        if node.value is None:
            return Blank(span)
        if isinstance(node.value, (bool, str)):
            return Word(span, node.value)
        if not isinstance(node.value, int):
            raise NotationError(f"{node.value!r} is not an integer", text=self.text, span=span, hint="layouts consist of integers")
        return Number(span, node.value, False)

    def name(self, node: ast.Name | ast.Attribute, span: Span) -> Node:
        dotted = self.dotted(node)
        if dotted is None:  # an attribute of an expression: `f(x).shape`
            assert isinstance(node, ast.Attribute)
            return Call(span, node.attr, (), (self.node(node.value),))
        if (width := _BITS.fullmatch(dotted)) is not None:
            return Number(span, int(width[1]), False)
        return Name(span, dotted)

    def call(self, node: ast.Call, span: Span) -> Node:
        """A call, its keywords in the places and its operands in the order of our operations."""
        arguments: list[Node | None] = [self.node(item) for item in node.args]
        dotted = self.dotted(node.func)
        if dotted is None and not isinstance(node.func, ast.Attribute):
            return Apply(span, self.node(node.func), tuple(a for a in arguments if a))
        if dotted is None:
            assert isinstance(node.func, ast.Attribute)
            arguments.insert(0, self.node(node.func.value))
        name = str(dotted or getattr(node.func, "attr", ""))
        short = name.rpartition(".")[2]
        parameters = PARAMETERS.get(short, ())
        extra: list[Node] = []
        for keyword in node.keywords:
            value = self.node(keyword.value)
            if keyword.arg in parameters:
                position = parameters.index(keyword.arg)
                arguments += [None] * (position + 1 - len(arguments))
                arguments[position] = value
            elif keyword.arg == "mode":
                extra += value.items if isinstance(value, Sequence) else (value,)
            elif keyword.arg is not None and keyword.arg not in ("loc", "ip"):
                extra.append(Keyword(self.span(keyword), keyword.arg, value))
        if None in arguments:
            missing = parameters[arguments.index(None)]
            raise NotationError(f"{name} needs {missing}", text=self.text, span=span)
        order = REORDERED.get(short)
        if order is not None and len(arguments) == len(order):
            arguments = [arguments[n] for n in order]
        if name.startswith(("cute.", "cutlass.")) or name == short:
            name = name[: len(name) - len(short)] + operation(short)
        return Call(span, name, (), (*(a for a in arguments if a), *extra))
