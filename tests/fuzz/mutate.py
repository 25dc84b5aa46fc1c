"""Mutations: of JSON by its structure, so that what is behind the parser is reached; of texts by pieces, of sources by tokens."""

from __future__ import annotations

import json
import random
import re
from copy import deepcopy
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 63, 2**31, -(2**63), 10**30, 0.5, -0.0, 1e308),
    *("", "a", "0", "</svg>", "\x00", "\ud800", "\n" * 9, "x" * 400, "T0\nV0", "T5,6"),
    *([], {}, [0], [[]], [[0, 0, 1, 1]], [[0, [[0, 0]]]], {"": ""}, [None, None], [-1, 0, 1]),
)


SIGNS = "()[]{}<>:,;_@?^#'\"\\\n\t -+*/0123456789"
WORDS = ["o", "1@0", "_8", "Sw<3,3,3>", "\0", "\ud800", "\u202e", "é", "9" * 40, "((((", "None"]
PIECES = [*SIGNS, *WORDS]
TOKENS = [
    *"(){}[]<>*&:;,.=#?!~",
    "::",
    "->",
    "template <",
    "auto",
    "#if 0\n",
    "\n#endif\n",
    "->*",
    "0",
    "-1",
    "9" * 30,
    "...",
    "lambda: ",
    "for",
    "def f():",
    "*args",
]


def mutate_text(text: str, other: str, chance: random.Random) -> str:
    """The text with a few pieces put in, cut out, doubled, or taken from another."""
    for _ in range(chance.randint(1, 6)):
        a, b = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:a] + chance.choice(PIECES) + text[a:]
        elif kind == 1:
            text = text[:a] + text[min(b, a + 20) :]
        elif kind == 2:
            text = text[:a] + text[a : a + 60] * 2 + text[a + 60 :]
        elif kind == 3:
            start = chance.randint(0, len(other))
            text = text[:a] + other[start : start + chance.randint(1, 40)] + text[b:]
        else:
            text = text[:a] + chance.choice(PIECES) + text[a + 1 :]
    return text[:4000]


def mutate_source(text: str, chance: random.Random) -> str:
    """Source code with a few of its tokens gone, doubled, exchanged or replaced, lines moved, or its end cut off."""
    tokens = re.findall(r"\w+|[^\S\n]+|\n|[^\w\s]", text)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        if not tokens:
            break
        at, kind = chance.randrange(len(tokens)), chance.randrange(9)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at])
        elif kind == 2:
            tokens[at] = chance.choice(tokens)
        elif kind == 3:
            tokens[at] = chance.choice(TOKENS)
        elif kind == 4:
            tokens.insert(at, chance.choice(TOKENS))
        elif kind == 5:
            del tokens[at : at + chance.randrange(1, 40)]
        elif kind == 6:
            start = chance.randrange(len(tokens))
            tokens[at:at] = tokens[start : start + chance.randrange(1, 40)]
        elif kind == 7 and chance.randrange(3) == 0:
            del tokens[at:]
        else:
            tokens[at] = "".join(
                chr(chance.choice((0, 9, 34, 39, 92, 123, 0x7F, 0x202E, 0xD800, ord(char)))) for char in tokens[at]
            )
    return "".join(tokens)


def mutate_json(text: str, seed: int) -> str:
    """The text with one to four values of it replaced, removed, doubled or exchanged; text that is no JSON as it is."""
    chance = random.Random(seed)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(chance.randint(1, 4)):
        holders = [holder for holder in _holders(data) if holder]
        if not holders:
            break
        holder = chance.choice(holders)
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        kind = chance.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        elif kind == 2:
            other = chance.choice(holders)
            donor = chance.choice(list(other) if isinstance(other, dict) else range(len(other)))
            holder[key] = deepcopy(other[donor])
        elif kind == 3 and isinstance(holder[key], int):
            holder[key] += chance.choice((-1, 1, 7))
        else:
            holder[key] = deepcopy(chance.choice(ODD))
    return json.dumps(data)


def _holders(data: Any) -> list[Any]:
    """Every list and object of the data, small and large ones alike."""
    found, stack = [], [data]
    while stack:
        item = stack.pop()
        if isinstance(item, (dict, list)):
            found.append(item)
            stack.extend(item.values() if isinstance(item, dict) else item)
    return found
