"""Which reader a text needs: C++, Python, CuTe IR, types in any text, prints of CuTe, or the notation."""

from __future__ import annotations

import re

from cute_viz.limits import limit
from cute_viz.notation import is_triton
from cute_viz.records import pattern

KINDS = ("cpp", "python", "mlir", "triton", "types", "print", "notation")
_SAMPLE = 1 << 13  # characters of the beginning, the middle and the end that are looked at

_SUFFIXES = {
    **dict.fromkeys(("cu", "cuh", "cpp", "cc", "cxx", "c", "h", "hpp", "hh", "hxx", "inl", "ipp", "tpp"), "cpp"),
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("mlir", "ttgir", "ttir"), "mlir"),
}
# What a line of each language looks like; a line counts for each that it looks like.
_LINES = {
    "mlir": pattern(
        r"^[ \t]*(?:(?:%[\w$.#:, %-]+ = )?\"?(?:cute|func|scf|arith|builtin|gpu|cuda|llvm|nvvm|memref|cf)\.[\w.]+\"?[ <(@%:]"
        r"|(?:builtin\.)?module\b.*\{$|[!#]\w+ = [!#]\w+\.|func\.func\b)",
        re.M,
    ),
    "types": pattern(
        r"^(?:[0-9a-f]{16}| {16}|[0-9a-f]{8}| {8}) [A-Za-z?] \S"  # a symbol table
        r"|^[^\s:()]+(?:\(\d+(?:,\d+)?\)|:\d+(?::\d+)?): *(?:fatal )?(?:error|warning|note|remark)\b"  # a compiler's message
        r"|^In file included from |: (?:In (?:instantiation|substitution|function)|required from)\b|^ +(?:\d+ +)?\| |\[with \w+ ?= "
        r"|^[ \t\"]*(?:void |auto |static )*[\w:]+<(?=[^;={}\n]*(?:tuple<|Layout<|C<))[^;={}\n]*>\([^;={}\n]*$"
        r"|^[ \t]*(?:cute::)?(?:Layout|ComposedLayout|TiledMMA|TiledCopy|MMA_Atom|Copy_Atom|Tensor)<(?=[^\n]*\bC<)[\w ,:<>&*()-]*>$"
        r"|\b_ZN?\d+\w{0,200}?4cute",
        re.M,
    ),
    "python": pattern(
        r"^[ \t]*(?:(?:async )?def \w+\(|class \w+.*:$|import \w|from [\w.]+ import\b|@\w[\w.]*(?:\(|$)"
        r"|(?:if|elif|for|while|with|try|except|else)\b.*:$"
        r"|\"\"\"|print\(|self\.\w+ = |\w+ = (?:cute|cutlass|self|utils|tcgen05|warp|cpasync)\b)",
        re.M,
    ),
    "cpp": pattern(
        r"^[ \t]*(?:#[ \t]*(?:include|pragma|define|if|ifdef|ifndef|endif|else|elif)\b"
        r"|template\b|using\b|namespace\b|struct\b|class\b.*[^:]$|constexpr\b"
        r"|auto\b|static\b|typename\b|CUTE_\w+|__global__|\};|/\*)|;[ \t]*(?://.*)?$",
        re.M,
    ),
    "print": pattern(
        r"^[ \t]*(?:TiledMMA|TiledCopy|MMA_Atom|Copy_Atom|Tiled MMA|Tiled Copy|MMA Atom|Copy Atom|Thr(?:MMA|Copy))[ \t]*$"
        r"|^[ \t]*(?:ThrID|Thr ID|ThrLayoutVMNK|PermutationMNK|Shape_MNK"
        r"|Layout[ABC]_TV|Tiler_MN|TV Layout \w|ValLayout\w+|TiledLayout_TV)[ \t]*:"
        r"|(?:^|[\s:>\"'])(?:Sw?<-?\d+,-?\d+,-?\d+>(?:_\w+| o )|\(+_?\d[\d,()_]*\):\(*_?\d|_\d+:_\d"
        r"|\w*ptr\[\d+b\]|ptr<|raw_ptr\(|tensor<|ArithTuple)"
        r"(?![^\n]*[;{}])|^ *(?:\+-+)+\+$|^ *\d+ +(?:\| +\d+ +)+\|$",
        re.M,
    ),
    "notation": pattern(
        r"^[ \t]*(?:[A-Za-z_]\w* = )?(?:[a-z_]+\()?\(*_?\d[\d,()_ ]*:[ (]*_?\d|^[ \t]*[A-Za-z_]\w* = [a-z_]+\(", re.M
    ),
}
_WEIGHTS = {"mlir": 4, "types": 3, "python": 2, "cpp": 1, "print": 2, "notation": 1}
_CUTE_IR = pattern(r"[!#]cute\.\w+\s?<|\bfunc\.func\b|^[ \t]*(?:builtin\.)?module\b.*\{$", re.M)
_OF_CUTE_IR = pattern(r"[!#]cute|%[\w$]")
_TRITON = pattern(r"^[ \t]*#\w+ = #(?:ttn?g|triton_gpu)\.|^[ \t]*(?:%[\w:, %]+ = )?(?:tt|ttn?g|triton_gpu)\.\w+ [^\n]*:", re.M)
_PYTHON = pattern(r"^from [\w.]+ import \w", re.M)  # no line of C++
_CODE = pattern(r"\{\}|[;{}]|\breturn\b")
_BARE_TYPE = _LINES["types"]


def sniff(text: str, name: str = "") -> str:
    r"""The reader that a text needs, one of KINDS. The name of its file is a strong hint; what the text holds has the last word."""
    sample = _sampled(text)
    if _TRITON.search(sample):
        return "triton"
    hint = _SUFFIXES.get(name.rpartition(".")[2].lower() if "." in name else "")
    if "\n" not in text.strip():
        return _one_line(text.strip()[:_SAMPLE], hint)
    counts = {kind: len(pattern.findall(sample)) * _WEIGHTS[kind] for kind, pattern in _LINES.items()}
    if not _CUTE_IR.search(sample):
        counts["mlir"] = 0
    elif counts["mlir"] > max(counts["python"], counts["cpp"]):
        outside = "\n".join(line for line in sample.split("\n") if not _OF_CUTE_IR.search(line))  # prints may be in its strings
        counts["print"], counts["notation"] = len(_LINES["print"].findall(outside)) * _WEIGHTS["print"], 0
    if hint is not None:
        other = max((kind for kind in ("mlir", "types", "print") if kind != hint), key=counts.__getitem__)
        return other if counts[other] > 8 * (1 + counts[hint]) else hint
    best = max(counts, key=counts.__getitem__)
    if counts[best] == 0:
        return "notation"
    if best == "cpp" and _PYTHON.search(sample):
        return "python"  # whose strings hold code of another language
    if best in ("cpp", "python", "notation") and counts["notation"] >= counts[best] and not _CODE.search(sample):
        return "notation"
    if best == "notation" and counts["print"] >= counts["notation"]:
        return "print"
    lines = [line for line in sample.split("\n") if line.strip() and not line.lstrip().startswith(("#", "//"))]
    if best == "print" and counts["notation"] >= len(lines):
        return "notation"
    if best == "print" and counts["notation"] * 2 >= counts["print"] and re.search(r"^[ \t]*\w+ = ", sample, re.M):
        return "notation"
    return best


def _one_line(line: str, hint: str | None) -> str:
    """The reader of one line: an expression, unless it is a type or a symbol."""
    if hint is not None:
        return hint
    if re.search(r"[!#]cute\.\w+\s?<", line):
        return "mlir"
    return "types" if _BARE_TYPE.search(line) and not _CODE.search(line) else "notation"


def _sampled(text: str) -> str:
    """The text, or of a long one the whole lines of three pieces."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2 - _SAMPLE // 2
    pieces = (text[:_SAMPLE], text[middle : middle + _SAMPLE].partition("\n")[2], text[-_SAMPLE:].partition("\n")[2])
    return "\n".join(
        piece if len(max(piece.split("\n"), key=len)) < 4000 else "\n".join(x[:4000] for x in piece.split("\n")) for piece in pieces
    )


# What C++ has and notation has not: braces, types with arguments, what makes tuples and pointers, declarations.
_CPP = pattern(
    r"(?<!LayoutLeft)(?<!LayoutRight)(?<!GenRowMajor)(?<!GenColMajor)(?<!\?)(?<=[\w>])\{|\b(?:auto|using|constexpr|decltype|typename)\b"
    r"|\b(?:Layout|Shape|Stride|Step|Tiler?|Coord|tuple|Int|C|ComposedLayout|(?:Copy|MMA)_(?:Atom|Traits)|TiledMMA|TiledCopy|uint_\w+_t|\w+_v|smem_ptr_flag_bits)<"
    r"|\bmake_(?:(?:shape|stride|step|coord|tile|tuple|\w+_ptr|tensor|inttuple_iter|(?:copy|mma)_atom)\b|\w+\(\s*\d+\s*[,)])|\b(?:rank|depth|(?:weakly_)?congruent|compact_\w+_major)\(\s*\d+\s*(?:,\s*\d+\s*)?\)|_selector(?:_sparse)?<|\bLayout_\w+<|\brecast<|>::\w+"
    r"|(?m:^|;)[ \t]*(?!return\b|import\b|from\b|for\b)[A-Za-z_][\w:]*[ \t]+[&*]*[A-Za-z_]\w*[ \t]*="
)
_PLAIN = "0123456789_(),:@+-* \t\n"  # nothing that it has is made of these alone
_OTHER = pattern(r"\bcute\.|\bstride\s*=|#tt|!cute|\?\{")  # the DSL, Triton, CuTe IR


def is_cpp(text: str, dialect: str = "auto") -> bool:
    """Whether a text is one of C++."""
    if dialect not in ("auto", "cpp", "cute") or not text.strip(_PLAIN) or _CPP.search(text) is None or len(text) > limit("source"):
        return False
    if _OTHER.search(text) is not None or is_triton(text):
        return False
    if "\n" not in text.strip():
        return True
    return sniff(text) in ("cpp", "notation")
