"""Macros of C++: tokens for tokens, with `#`, `##`, variadic ones, and no macro in itself (Prosser's algorithm, [cpp.rescan])."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from cute_viz.errors import LimitError, NotationError, Span
from cute_viz.limits import Budget
from cute_viz.source.cpp.tokens import CppToken, tokenize

_MOST = 50_000  # tokens that one macro becomes
_BYTES = 256  # of a token and of what is made of it


class Macro(NamedTuple):
    """A macro of the file: its parameters (None of one without), its body, and where it is defined."""

    params: tuple[str, ...] | None
    body: tuple[CppToken, ...]
    start: int

    @property
    def text(self) -> str:
        """What tells it from another of its name."""
        return " ".join(token.text for token in self.body)


class _Marked(NamedTuple):
    """A token, and the macros that it came from, which it is none of any more."""

    token: CppToken
    hidden: frozenset[str] = frozenset()


def defined(text: str, start: int) -> tuple[str, Macro] | None:
    """The macro that a directive defines, by its name."""
    match = re.match(r"([A-Za-z_]\w*)(\(([\w\s,.]*)\))?\s*([\s\S]*)", text)
    if match is None:
        return None
    params = tuple(part.strip() for part in match[3].split(",") if part.strip()) if match[2] else None
    body, _ = tokenize(f"0 {match[4]}")
    return match[1], Macro(params, tuple(_paired(body[1:-1])), start)


def _paired(tokens: list[CppToken]) -> list[CppToken]:
    """Tokens with `##` as one."""
    out: list[CppToken] = []
    for token in tokens:
        if token.kind == "#" and out and out[-1].kind == "#" and token.start == out[-1].end:
            out[-1] = CppToken("##", "##", out[-1].start)
        else:
            out.append(token)
    return out


def expanded(tokens: list[CppToken], table: Mapping[str, Macro], text: str, budget: Budget | None = None) -> list[CppToken]:
    """Tokens with every macro of a table in the place of its name; each lies where its macro is written.

    budget: of the file. Raises: LimitError for what becomes too long, one macro or all of them together.
    """
    if not any(token.kind == "name" and token.text in table for token in tokens):
        return tokens
    out: list[CppToken] = []
    at, count = 0, len(tokens)
    while at < count:
        token = tokens[at]
        if token.kind != "name" or token.text not in table:
            out.append(token)
            at += 1
            continue
        end = _behind(tokens, at, table[token.text])
        if end is None or any(x.kind == "{" for x in tokens[at:end]):  # a body among its arguments: it stays as it is
            out.append(token)
            at += 1
            continue
        made = _rescanned([_Marked(x) for x in tokens[at:end]], table, text, token)
        if budget is not None:
            budget.made(_BYTES * len(made), text, token.span)
        for x, y in zip(made, [*made[1:], *made[:1]], strict=True):
            out.append(CppToken(x.token.kind, x.token.text, token.start, tight=x.token.touches(y.token)))
        at = end
    return out


def _behind(tokens: list[CppToken], at: int, macro: Macro) -> int | None:
    """Behind the name of a macro and its arguments; None where it has none."""
    if macro.params is None:
        return at + 1
    if at + 1 >= len(tokens) or tokens[at + 1].kind != "(":
        return None
    depth = 0
    for n in range(at + 1, len(tokens)):
        depth += (tokens[n].kind == "(") - (tokens[n].kind == ")")
        if not depth:
            return n + 1
    return None


def _rescanned(given: list[_Marked], table: Mapping[str, Macro], text: str, place: CppToken) -> list[_Marked]:
    """Tokens with their macros replaced, and with those of what they become."""
    waiting, out = given[::-1], []
    while waiting:
        marked = waiting.pop()
        macro = table.get(marked.token.text) if marked.token.kind == "name" else None
        if macro is None or marked.token.text in marked.hidden:
            out.append(marked)
            continue
        hidden = marked.hidden | {marked.token.text}
        actuals: list[list[_Marked]] = []
        if macro.params is not None:
            behind = [x.token for x in waiting[::-1]]
            end = _behind([marked.token, *behind], 0, macro)
            if end is None:
                out.append(marked)
                continue
            inside = [waiting.pop() for _ in range(end - 1)]
            hidden = (marked.hidden & inside[-1].hidden) | {marked.token.text}
            actuals = _arguments(inside[1:-1], macro.params)
        body = _substituted(macro, actuals, table, text, place)
        if len(out) + len(waiting) + len(body) > _MOST:
            raise LimitError(f"the macro {marked.token.text!r} expands to too much", text=text, span=Span(place.start, place.end))
        waiting += [_Marked(x.token, x.hidden | hidden) for x in body[::-1]]
    return out


def _arguments(tokens: list[_Marked], params: tuple[str, ...]) -> list[list[_Marked]]:
    """The arguments of a macro, of which the last takes the rest where it is variadic."""
    out: list[list[_Marked]] = [[]]
    depth = 0
    for marked in tokens:
        kind = marked.token.kind
        depth += (kind == "(") - (kind == ")")
        if kind == "," and not depth and not (params and params[-1].endswith("...") and len(out) == len(params)):
            out.append([])
        else:
            out[-1].append(marked)
    return out if params else []


def _substituted(
    macro: Macro, actuals: list[list[_Marked]], table: Mapping[str, Macro], text: str, place: CppToken
) -> list[_Marked]:
    """The body of a macro with its arguments."""
    params = [("__VA_ARGS__" if name == "..." else name.removesuffix("...")) for name in macro.params or ()]
    if macro.params is not None and len(actuals) < len(params) and (macro.params[-1].endswith("...") or len(params) == 1):
        actuals = [*actuals, *[[] for _ in range(len(params) - len(actuals))]]
    if len(actuals) != len(params):
        raise NotationError(f"a macro of {len(params)} parameters is given {len(actuals)}", text=text, span=place.span)
    given = dict(zip(params, actuals, strict=True))
    out: list[_Marked] = []
    body, at = macro.body, 0
    while at < len(body):
        token = body[at]
        after = body[at + 1] if at + 1 < len(body) else None
        if token.kind == "#" and after is not None and after.text in given and macro.params is not None:
            words = " ".join(x.token.text for x in given[after.text])
            out.append(_Marked(CppToken("string", '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"', 0)))
            at += 2
        elif token.kind == "##" and out and after is not None:
            right = list(given[after.text]) if after.text in given else [_Marked(after)]
            if right and out[-1].token.kind != "##":
                out[-1:] = [*_pasted(out[-1], right[0]), *right[1:]]
            at += 2
        elif token.text == "__VA_OPT__" and after is not None and after.kind == "(":
            end = _behind([token, *body[at + 1 :]], 0, macro) or len(body) - at
            if given.get("__VA_ARGS__"):
                inner = Macro(macro.params, body[at + 2 : at + end - 1], macro.start)
                out += _substituted(inner, actuals, table, text, place)
            at += end
        elif token.text in given:
            pasted = after is not None and after.kind == "##"
            out += given[token.text] if pasted else _rescanned(list(given[token.text]), table, text, place)
            if pasted and not given[token.text]:  # of nothing only what follows is left
                then = body[at + 2].text if at + 2 < len(body) else ""
                out += given[then] if then in given else [_Marked(body[at + 2])] if then else []
                at += 2
            at += 1
        else:
            out.append(_Marked(token))
            at += 1
    return out


def _pasted(left: _Marked, right: _Marked) -> list[_Marked]:
    tokens, _ = tokenize(f"{left.token.text}{right.token.text}")
    return [_Marked(token, left.hidden & right.hidden) for token in tokens[:-1]]
