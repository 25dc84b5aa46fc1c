"""A word that names nothing -> what it may have meant: an instruction, a swizzle mode, an operation, a type, a spec or a file."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches

from cute_viz.errors import AlgebraError, CuteVizError, Span
from cute_viz.spec import Library

_WORD = re.compile(r"[A-Za-z_][\w.:]*(?:\{\})?")
_MODE = re.compile(
    r"(?i)(?:gmma|umma)?(?:::)?(?:layout_)?(?:(k|mn)_)?(?:sw|swizzle[_ ]?|(?=\d+b))(32|64|128)b?(?:_atom)?(?:_bits)?"
)
_SWIZZLE = re.compile(r"(?i)s(?:w|wizzle)?_?([0-9])_?([0-9])_?([0-9])")
_BITS = {"32": 1, "64": 2, "128": 3}
_STATEMENTS = {"copy": "copy(src, dst)", "gemm": "gemm(mma, A, B, C)"}
_NEAR = 0.75  # how like the name of a spec or a file a misspelt one is


def suggested(error: CuteVizError, text: str, library: Library, files: bool, drawn: bool = True) -> CuteVizError:
    """The error of a text that is one word, with what the word may mean as its hint; any other error as it is.

    files: whether the text could have been the path of a file. drawn: whether it is to be drawn; else it may be a number, too.
    """
    word = text.strip()
    lone = error.needs == (word,) or "is undefined" in error.message or "follow '.'" in error.message  # HMMA.16816.F32
    if not _MODE.fullmatch(word) and (not lone or not _WORD.fullmatch(word) or len(word) > 80):  # 128B is not a name
        return error
    message = f"{word!r} is undefined"
    hint = _meaning(word) or _instructions(word, library) or _names(word, library, files)
    if hint is None and not drawn:
        return error
    if hint is None:
        hint = "write a layout, for example (4,8):(8,1); 'cute-viz list' names the atoms and operations"
        if word.isidentifier():
            hint = f"write a layout, for example (4,8):(8,1), or define it: `let={word}=(4,8):(8,1)`"
    whole = Span(text.index(word), text.index(word) + len(word))  # not the part of a dotted name that a reader stopped at
    here = {"text": text, "span": whole} if error.text in (None, text) else {}
    return error.but(message=message, hint=hint, needs=(), **here)


def _meaning(word: str) -> str | None:
    """What CuTe means by a word that is not a name of an object."""
    from cute_viz.algebra import ops
    from cute_viz.analysis.patterns import instruction_of

    if (mode := _MODE.fullmatch(word)) is not None:
        atom = f"GMMA::Layout_{(mode[1] or 'K').upper()}_SW{mode[2]}_Atom<half_t>{{}}"
        return f"the {mode[2]}-byte swizzle is Sw<{_BITS[mode[2]]},4,3> on bytes; its atom for 16-bit elements is {atom}"
    if (digits := _SWIZZLE.fullmatch(word)) is not None:
        return f"did you mean Sw<{','.join(digits.groups())}>?"
    if (access := instruction_of(word)) != word:
        return f"it is the access {access}: 'cute-viz analyze \"(32,32):(32,1)\" --access {access}' counts what it costs"
    short = re.split(r"::|\.", word)[-1]
    if short in _STATEMENTS:
        return f"'cute-viz explain \"{_STATEMENTS[short]}\"' explains a statement; 'cute-viz list' names the instructions"
    if (operation := ops.OPS.get(ops.ALIASES.get(short, short))) is not None:
        return f"{short} is an operation; example: {operation.example}"
    return ops.elsewhere(short)


def _instructions(word: str, library: Library) -> str | None:
    """The instructions that a word is a part of the name of, or that an opcode of SASS fits."""
    try:
        library.resolve(word)
    except AlgebraError as error:
        return error.hint
    found = library.search(word) if len(word) > 2 else []
    if not found:
        return None
    examples = ", ".join(dict.fromkeys(line.example for line in found[:3]))
    if len(found) == 1:
        return f"did you mean {examples}?"
    kind = found[0].kind if len({line.kind for line in found}) == 1 else "copy"
    return f"the names of {len(found)} instructions have it, for example {examples}; 'cute-viz list {kind} {word}' lists them"


def _names(word: str, library: Library, files: bool) -> str | None:
    """The specs and files whose names are like a word, also those that begin with it."""
    specs = list(library.spec_names())
    near = get_close_matches(word, specs, n=2, cutoff=_NEAR) or [name for name in specs if name.startswith(word)][:2]
    if near:
        return f"did you mean the spec {' or '.join(near)}?"
    if not files:
        return None
    folder, name = os.path.split(word)
    try:
        here = sorted(entry.name for entry in os.scandir(folder or ".") if entry.is_file())[:1000]
    except OSError:
        return None
    near = [file for file in here if os.path.splitext(file)[0] == name][:2] or get_close_matches(name, here, n=2, cutoff=_NEAR)
    return f"did you mean the file {' or '.join(near)}?" if near else None
