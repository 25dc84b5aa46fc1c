"""Calls of the DSL: its operations are those of the registry, its helpers are computed, what runs on the device is unknown."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.copy import ThrCopy
from cute_viz.algebra.doubts import doubt
from cute_viz.algebra.dsl import DIFFERENCES
from cute_viz.algebra.inttuple import Underscore
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import ThrMMA
from cute_viz.algebra.ops import ALIASES, OPS, find
from cute_viz.algebra.partition import of_tensor
from cute_viz.algebra.slicing import dice_tuple
from cute_viz.algebra.static import as_in_dsl, clear_static, is_tiling
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, NotationError
from cute_viz.notation.values import check_size
from cute_viz.records import rows
from cute_viz.source.python.branches import forget
from cute_viz.source.python.gluon import call_gluon, is_gluon
from cute_viz.source.python.helpers import HELPERS
from cute_viz.source.python.instructions import instruction, is_of_one_value
from cute_viz.source.python.machine import Machine, need
from cute_viz.source.python.operators import narrowed, unstaged
from cute_viz.source.python.plain import call_plain
from cute_viz.source.python.subscripts import carried, first, moved, partitioned, sliced, somewhere, underscores
from cute_viz.source.python.tensors import TENSORS, dynamic, member_of, taken
from cute_viz.source.python.tree import ENUMS, defined, family, is_library
from cute_viz.source.python.tree import HELPERS as KNOWN
from cute_viz.source.python.tree import helper as known_helper
from cute_viz.source.python.values import (
    Atom,
    Lost,
    Mutable,
    Object,
    Partial,
    PyClass,
    SizedInt,
    Slice,
    Symbol,
    as_tensor,
    run_times,
    tensor_of,
)
from cute_viz.values.integer import Unknown

PARAMETERS = {name: tuple(words.split()) for name, words in rows(__file__, "spelled.txt")}
# Where the DSL's order of operands is another one than C++'s: positions in the DSL's call.
REORDERED = {"slice_": (1, 0), "dice": (1, 0), "recast_layout": (2, 1, 0), "repeat_like": (1, 0)}
# Another operation under the same name.
RENAMED = {"slice_": "slice", "make_tiled_copy": "make_tiled_copy_impl", "make_tiled_copy_tv": "make_tiled_copy"}
RENAMED |= {"is_congruent": "congruent", "is_weakly_congruent": "weakly_congruent"}
RENAMED |= {"make_layout_image_mask": "create_tma_multicast_mask"}


def operation(name: str) -> str:
    """The operation that a name of the DSL is for `algebra.ops.find`, `dsl.NAME` where its compiler computes another value."""
    name = RENAMED.get(name, name)
    return f"dsl.{name}" if ALIASES.get(name, name) in DIFFERENCES else name


_GAP = object()  # an argument that is not given
_NAMESPACE = PyClass(ast.ClassDef("SimpleNamespace", [], [], [], []), {})
_PASS = (
    "mark_layout_dynamic",
    "mark_compact_shape_dynamic",
    "const_expr",
    "make_warp_uniform",
    "static_assert",
    "Constexpr",
    "dynamic_expr",
)
_PLACES: tuple[str, ...] = ("thread_idx", "block_idx", "block_dim", "grid_dim", "cluster_idx", "cluster_dim")
_PLACES += ("block_in_cluster_idx", "block_in_cluster_dim")
_NUMBERS = ("warp_idx", "lane_idx", "block_idx_in_cluster", "cluster_size")  # of a thread, one each
# Operations that take a place: an argument of which the layout of the result does not depend.
_PLACED = {"local_tile": 2, "local_partition": 2, "slice_": 1, "domain_offset": 0}
# What copies or multiplies, with the names of its operands.
_COPIES: dict[str, tuple[str, ...]] = dict.fromkeys(("autovec_copy", "basic_copy"), ("src", "dst"))
_COPIES |= {"copy": ("atom", "src", "dst"), "gemm": ("atom", "d", "a", "b", "c")}
# Operations for whose operand at a place the DSL does not take values of all kinds that CuTe takes.
_PRODUCTS = [f"{kind}_product" for kind in ("logical", "zipped", "tiled", "flat", "raked", "blocked")]
_REFUSED: list[tuple[list[str], int, Any]] = [
    (_PRODUCTS[1:], 1, (int, tuple)),
    ([f"{kind}_divide" for kind in ("zipped", "tiled", "flat")], 1, int),
    ([*_PRODUCTS, "complement", "get", "select", "dice", "prepend", "append"], 0, Tensor),
    (["left_inverse", "right_inverse", "filter_zeros"], 0, ComposedLayout),
    (["left_inverse", "right_inverse"], 0, Tensor),
    (["recast_layout"], 2, Tensor),
    (["ceil_div"], 0, Layout),
    (["local_partition"], 2, int),
]
_BY_MODES = {"select", "get", "size", "cosize", "rank", "depth"}  # whose second operand is which modes are meant
_MOVES = {"local_tile", "local_partition", "slice_", "domain_offset", "partition_A", "partition_B", "partition_C"}
_OF_TENSORS = {"local_tile": 0} | dict.fromkeys(("partition_A", "partition_B", "partition_C", "partition_S", "partition_D"), 1)
_MOVES |= {"partition_S", "partition_D", "retile", "retile_S", "retile_D"}


def _on_device(machine: Machine, value: object, node: ast.expr) -> object:
    """An argument of what is compiled: an array of torch is a tensor there."""
    if not isinstance(value, Object) or value.cls.name != "Array":
        return value
    return machine.parts.call(
        machine, machine.parts.outside(machine, Symbol("cutlass.cute.runtime.from_dlpack")), [value], {}, node
    )


def call_library(machine: Machine, function: Symbol, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    """The value of a call of a function outside the text. Raises: NotationError for an unknown one; the error of an operation."""
    root = function.path.partition(".")[0]
    if root in ("@python", "math", "@items", "@str"):
        return call_plain(machine, function, args, named, node)
    if root == "@member":
        word = f"member__{function.last.removeprefix('sm90_')}"
        if word not in defined(KNOWN) or len(args) != 1:
            raise machine.fail(f"{function.last} of this is not supported here", node)
        return _helped(machine, word, args, named, node)
    if root == "@tensor":
        function = Symbol(f"cutlass.{function.last}")
    if function.path == "types.SimpleNamespace" and not args:
        return Object(_NAMESPACE, dict(named))
    if function.path == "functools.partial" and args:
        return Partial(args[0], tuple(args[1:]), dict(named))
    if is_gluon(function.path):
        return call_gluon(function, args, named)
    if not is_library(function.path):
        triton = function.path.startswith("triton.")
        told = f"{function.last} is Triton's, whose tensors are in its TTGIR" if triton else f"{function.path} is not in this file"
        error = machine.fail(told, node)
        for value in (*args, *named.values()):
            forget(machine, value, error)
        raise error
    name, module, args = function.last, family(function.path), [as_tensor(value) for value in args]
    if name.startswith("mark_") and args and isinstance(args[0], Tensor):
        return dynamic(args[0], named)
    if name in _PASS and args:
        return args[0]
    if name in ("range", "range_constexpr", "range_dynamic", "min", "max"):
        plain = Symbol(f"@python.{name.partition('_')[0]}")
        return call_plain(machine, plain, args, {} if plain.last == "range" else named, node)
    if module == "arch" and name in _PLACES + _NUMBERS and not args and not named:
        found = machine.staged(node, f"cute.arch.{name}()")
        return (found,) * 3 if name in _PLACES else found
    if module in ("arch", "pipeline", "testing", "runtime", "experimental") and (module, name) not in HELPERS:
        raise machine.fail(f"{function.path.removeprefix('cutlass.')} is a run-time value", node)
    if name in ENUMS and len(args) == 1 and not named:
        return member_of(machine, name, need(args[0]), node)
    if function.path == "cutlass.cute.compile" and args:
        own = {word: _on_device(machine, x, node) for word, x in named.items() if word != "options"}
        return machine.parts.call(machine, args[0], [_on_device(machine, x, node) for x in args[1:]], own, node)
    if module == "cute" and name in _COPIES:
        words = _COPIES[name]
        operands = [*args, *(named[word] for word in words[len(args) :] if word in named)]
        merges = name == "copy" and "pred" not in named and bool(operands) and is_of_one_value(operands[0])
        machine.moved(node, operands[1:] if merges else operands)
        return None
    if name.endswith("Op") and (op := instruction(module, name, args, named)) is not None:
        return op
    if name == "ceil_div":  # of plain numbers the quotient has the width of the dividend
        args = [args[0], *map(narrowed, args[1:])] if args else args
    if name not in ("assume", "round_up", "local_partition"):
        args, named = [unstaged(value) for value in args], {word: unstaged(value) for word, value in named.items()}
    helper = HELPERS.get((module, name)) or HELPERS.get(("", name))
    helper = helper or TENSORS.get(name)
    itself = machine.tree.name == KNOWN and name in OPS  # which the helper of that name is made of
    if helper is None and not itself and (word := known_helper(module, name)):
        return _helped(machine, word, args, named, node)
    if helper is not None:
        try:
            return taken(helper, machine, args, named)
        except (TypeError, AttributeError, IndexError, ValueError, ArithmeticError):  # arguments of other kinds
            raise machine.fail(f"{name} takes other arguments than these", node) from None
    if name == "slice_" and len(args) == 2 and isinstance(args[0], Tensor):
        return sliced(machine, args[0], args[1], node)
    if args and isinstance(args[0], Slice):
        return _of_some_thread(machine, name, args, named, node)
    return operate(machine, function, args, named, node)


def _helped(machine: Machine, word: str, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    """What a helper gives that is written in the DSL. Raises: its error, without a place in its text."""
    try:
        found = machine.parts.call(machine, machine.parts.outside(machine, Symbol(f"{KNOWN}.{word}")), args, named, node)
        return need(found)
    except CuteVizError as error:
        if error.name != KNOWN:
            raise
        if isinstance(error, NotationError) and not error.needs:
            raise machine.fail(f"{word.rpartition('__')[2]} takes other arguments than these", node) from None
        raise error.but(text=None, span=None, name=None) from None


def operate(machine: Machine, function: Symbol, args: list[object], named: dict[str, object], node: ast.expr) -> object:
    """An operation of the registry: keywords in their places, operands in its order, layouts of tensors for tensors."""
    name = function.last
    if name not in OPS and name not in ALIASES and name not in RENAMED and name != "retile":
        raise machine.fail(f"{function.path} is not supported here", node)
    return _applied(machine, name, *_placed(machine, name, args, named, node), node)


def _applied(machine: Machine, name: str, operands: list[Any], extra: list[object], node: ast.expr) -> Any:
    """An operation on operands in their places."""
    for names, at, kind in _REFUSED:
        if name in names and len(operands) > at and isinstance(operands[at], kind) and not isinstance(operands[at], SizedInt):
            raise machine.fail(f"{name} of the DSL does not take this kind of operand", node)
    given, operands = operands, list(operands)
    if (at := _OF_TENSORS.get(name, len(operands))) < len(operands) and isinstance(operands[at], (Layout, ComposedLayout)):
        operands[at] = tensor_of(operands[at])  # a layout was given for a tensor
    tensor = next((value for value in operands if isinstance(value, Tensor)), None)
    source = next((value for value in given if isinstance(value, Tensor)), None)
    if name in _PLACED and len(operands) > _PLACED[name]:
        operands[_PLACED[name]] = somewhere(underscores(operands[_PLACED[name]]))
    some = name in ("get_slice", "get_thread_slice") and len(operands) == 2 and isinstance(operands[1], (Lost, Unknown))
    if some and isinstance(operands[0], Atom):
        cause = operands[1]
        return Slice(operands[0], Lost(cause.error()) if isinstance(cause, Unknown) else cause)
    values = [_operand(need(value)) for value in operands]
    if name in ("get_slice", "get_thread_slice") and values and isinstance(values[0], (ThrCopy, ThrMMA)):
        values[0] = values[0].tiled  # of a thread's view the whole's
    if name == "local_tile" and len(values) == 4 and isinstance(values[3], tuple) and isinstance(values[2], tuple):
        proj = values.pop()  # of coordinates (M,N,K,L) the projection (1,_,1) leaves L
        values[1:] = [dice_tuple(proj, values[1]), dice_tuple((*proj, *[1] * (len(values[2]) - len(proj))), values[2])]
    if name == "local_tile" and len(values) > 2 and isinstance(values[1], tuple):
        places = len(values[2]) if isinstance(values[2], tuple) else 1
        if places != find("rank").call([values[0]]):
            raise machine.fail(f"the DSL needs a coordinate with a mode for each mode of the tensor, not {places}", node)
    order = REORDERED.get(name)
    if order is not None and len(values) == len(order):
        values = [values[n] for n in order]
    short = "retile_S" if name == "retile" else operation(name)
    run_time = any(isinstance(value, (ThrCopy, ThrMMA)) or next(run_times(value), None) is not None for value in values)
    if run_time and "inverse" in short:
        raise machine.fail(f"{name} takes layouts of static extents and strides", node)
    with nullcontext() if tensor is None else of_tensor(), as_in_dsl():
        result = find(short).call([*values, *extra])
    check_size(result, machine.tree.text, machine.tree.span(node))
    machine.told[id(node)] = Operation("slice" if name == "slice_" else short, (*values, *extra))
    if machine.warnings is not None and len(values) == 2:
        machine.warnings += filter(None, [doubt(find(short).name, values, result)])
    if name == "domain_offset" and tensor is None and isinstance(result, tuple):
        result = result[0]
    if tensor is not None and (isinstance(result, (Layout, ComposedLayout)) or (name in _MOVES and isinstance(result, tuple))):
        part = moved(tensor, result) if name in _MOVES else replace(tensor, layout=result)
        part = replace(part, layout=_cleared(part.layout), part=None)
        if name == "local_partition" or name.startswith("partition_"):
            some = name == "local_partition" and isinstance(given[2], (Unknown, Lost))
            return partitioned(part, tensor, values[1] if some else None, name[-1])
        at = _PLACED.get(name, len(given))
        known = [first(x) if n == at else x for n, x in enumerate(given)]
        return carried(
            part, tensor, lambda whole: _applied(machine, name, [whole if x is source else x for x in known], extra, node)
        )
    return _wrapped(result, operands)


def _wrapped(result: object, operands: list[object]) -> object:
    if is_tiling(result):
        atoms = [value for value in operands if isinstance(value, Atom)]
        return Atom(result, atoms[0].op if atoms else None, atoms[0].element if atoms else None)
    return _cleared(result)


def _cleared(result: object) -> object:
    """The DSL prints no integer as static; `_` of a tuple is Python's None."""
    if isinstance(result, tuple):
        return tuple(map(_cleared, result))
    return None if isinstance(result, Underscore) else clear_static(result)


def _operand(value: object) -> Any:
    if isinstance(value, Tensor):
        return value.layout
    if isinstance(value, Atom):
        return value.value
    return underscores(value) if isinstance(value, (tuple, Mutable)) else value


def _placed(
    machine: Machine, name: str, args: list[object], named: dict[str, object], node: ast.expr
) -> tuple[list[Any], list[Any]]:
    """Operands in their places, and the modes that `mode=` picks."""
    parameters = PARAMETERS.get(name, ())
    out, extra = list(args), list[Any]()
    if name in _BY_MODES and len(out) == 2 and not isinstance(out[1], Lost):
        named = {**named, "mode": out.pop()}
    for word, value in named.items():
        if word == "mode":
            modes = underscores(need(value))
            extra += modes if isinstance(modes, tuple) else (modes,)
        elif word in parameters:
            at = parameters.index(word)
            out += [_GAP] * (at + 1 - len(out))
            out[at] = value
        elif word not in ("loc", "ip"):
            raise machine.fail(f"{name} takes no {word!r} here", node)
    while out and out[-1] is None:
        out.pop()
    if _GAP in out:
        raise machine.fail(f"cute.{name} needs {parameters[out.index(_GAP)]}", node)
    return out, extra


def _of_some_thread(machine: Machine, name: str, args: list[Any], named: dict[str, object], node: ast.expr) -> object:
    """What a thread sees, whichever it is: a layout that all threads have alike, of an offset that is not known."""
    view = args[0]
    thread = find("get_slice").call([view.atom.value, Unknown()])
    whole = Atom(thread, view.atom.op, view.atom.element)
    owner = view.atom if name.startswith(("make_fragment", "partition_shape", "retile")) else whole
    call = Symbol(f"cutlass.cute.{name}")
    out = call_library(machine, call, [owner, *args[1:]], named, node)
    source = args[1] if len(args) > 1 else None
    if isinstance(out, Tensor) and isinstance(source, Tensor) and name.startswith("partition_"):
        return partitioned(out, source, view.atom.value, name[-1])
    return out
