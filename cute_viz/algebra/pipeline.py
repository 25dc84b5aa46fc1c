"""A pipeline of tiles through stages of shared memory: when each is loaded, is full, is read and is free again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

from cute_viz.display import Shown
from cute_viz.errors import AlgebraError, did_you_mean

MOST = {"stages": 32, "tiles": 1024, "load": 64, "compute": 64, "consumers": 4, "work": 64, "epilogue": 64}


class Turn(NamedTuple):
    """One tile of K in one stage: the slots in which its load is issued, its data is there, its MMA begins, and it is free again.

    tile: its number. stage: tile mod stages. consumer: the warp group that reads it.
    """

    tile: int
    stage: int
    consumer: int
    issued: int
    full: int
    begun: int
    free: int


class Store(NamedTuple):
    """The epilogue of an output tile: who stores it, and in which slots."""

    work: int
    consumer: int
    begun: int
    done: int


@dataclass(frozen=True, slots=True)
class Pipeline(Shown):
    """A producer that issues a load a slot, and consumers that wait for it.

    stages: buffers of shared memory. tiles: of K, of one output tile. load, compute, epilogue: slots that a load takes until its
    data is there, an MMA over a tile, and the store of an output tile. consumers: warp groups that take turns, an output tile
    each, and whose MMAs share the tensor cores (CUTLASS's ping-pong). work: output tiles.
    """

    tiling: ClassVar[str] = "pipeline"
    stages: int
    tiles: int = 8
    load: int = 3
    compute: int = 1
    consumers: int = 1
    work: int = 1
    epilogue: int = 2
    source: str = ""

    def __str__(self) -> str:
        return f"pipeline of {self.stages} stages, {self.tiles} tiles"

    def given(self, words: Mapping[str, str]) -> Pipeline:
        """The pipeline with numbers by name.

        Raises: AlgebraError for another name, and for a number that is none of those allowed.

        >>> Pipeline(4).given({"tiles": "12"}).tiles
        12
        """
        for name, word in words.items():
            if name not in MOST:
                raise AlgebraError(f"a pipeline has no {name!r}", hint=did_you_mean(name, MOST, 1) or f"it has {', '.join(MOST)}")
            least = 0 if name == "epilogue" else 1
            if not word.isdecimal() or not least <= int(word[:9]) <= MOST[name]:
                raise AlgebraError(f"{name} of a pipeline is an integer from {least} to {MOST[name]}, not {word[:20]}")
        numbers: dict[str, Any] = {name: int(word) for name, word in words.items()}
        return replace(self, **numbers)

    def turns(self) -> tuple[list[Turn], list[Store]]:
        """When what happens. A load waits until its stage is free (the empty barrier), an MMA until its tile is full.

        >>> [(turn.issued, turn.full, turn.begun, turn.free) for turn in Pipeline(2, 3, load=2).turns()[0]]
        [(0, 2, 2, 3), (1, 3, 3, 4), (3, 5, 5, 6)]
        """
        turns: list[Turn] = []
        stores: list[Store] = []
        for n in range(self.tiles * self.work):
            work, k = divmod(n, self.tiles)
            issued = max(turns[-1].issued + 1 if turns else 0, turns[n - self.stages].free if n >= self.stages else 0)
            before = stores[work - self.consumers].done if k == 0 and work >= self.consumers else 0
            begun = max(issued + self.load, turns[-1].free if turns else 0, before)
            done = begun + self.compute
            turns.append(Turn(n, n % self.stages, work % self.consumers, issued, issued + self.load, begun, done))
            if k == self.tiles - 1:
                stores.append(Store(work, work % self.consumers, done, done + self.epilogue))
        return turns, stores

    def waits(self) -> int:
        """The slots between the first MMA and the end of the last in which none runs.

        >>> Pipeline(4).waits(), Pipeline(3).waits()
        (0, 2)
        """
        turns, _ = self.turns()
        return turns[-1].free - turns[0].begun - self.compute * len(turns)


assert MOST.keys() == {field.name for field in fields(Pipeline)} - {"source"}


def words_of(text: str) -> dict[str, str]:
    """The numbers by name of `tiles=8, load=3`. Raises: AlgebraError for another text.

    >>> words_of("tiles=8, load=3")
    {'tiles': '8', 'load': '3'}
    """
    parts = [part for part in re.split(r"[,\s]+", text.strip()) if part]
    found = [re.fullmatch(r"(\w+)=(\w+)", part) for part in parts]
    if not parts or not all(found):
        raise AlgebraError(f"{text[:40]!r} is not a schedule", hint=f"example: tiles=8,load=3; names: {', '.join(MOST)}")
    return {match[1]: match[2] for match in found if match is not None}
