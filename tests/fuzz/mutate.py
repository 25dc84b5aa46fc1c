"""Mutations that keep a text readable: JSON by its structure, so that what is behind the parser is reached."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 63, 2**31, -(2**63), 10**30, 0.5, -0.0, 1e308),
    *("", "a", "0", "</svg>", "\x00", "\ud800", "\n" * 9, "x" * 400, "T0\nV0", "T5,6"),
    *([], {}, [0], [[]], [[0, 0, 1, 1]], [[0, [[0, 0]]]], {"": ""}, [None, None], [-1, 0, 1]),
)


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
