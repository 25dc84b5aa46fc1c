"""`records.dataclass` defines what `dataclasses.dataclass` defines, only quicker."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from cute_viz.records import dataclass

HOWS = [{"frozen": True, "slots": True}, {"slots": True}, {"frozen": True}, {"slots": True, "eq": False}, {}]


def fields() -> dict[str, Any]:
    """The body of a class with a field of every kind."""
    return {
        "__annotations__": {"a": "int", "b": "Any", "c": "list[int]", "d": "str", "e": "ClassVar[int]", "f": "int"},
        "b": (1, 2),
        "c": dataclasses.field(default_factory=list, hash=False),
        "d": dataclasses.field(default="x", compare=False, repr=False),
        "e": 5,
        "f": 7,
        "__doc__": "One.",
        "__module__": __name__,
        "ClassVar": ClassVar,
    }


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_it_is_as_the_one_of_the_standard_library(how: dict[str, bool]) -> None:
    ours, theirs = (make(**how)(type("One", (), fields())) for make in (dataclass, dataclasses.dataclass))
    for one in (ours, theirs):
        assert [field.name for field in dataclasses.fields(one)] == ["a", "b", "c", "d", "f"]
        assert repr(one(3)) == "One(a=3, b=(1, 2), c=[], f=7)"
        assert one(3).c is not one(3).c
        assert (one(3) == one(3, d="y")) is how.get("eq", True)
        assert one(3) != one(4)
        assert one(3).__eq__(3) is NotImplemented
        assert dataclasses.replace(one(3), b=4).b == 4
        assert dataclasses.asdict(one(3, c=[1])) == {"a": 3, "b": (1, 2), "c": [1], "d": "x", "f": 7}
        assert copy.deepcopy(one(3, c=[1])).c == [1]
        assert one.__match_args__ == ("a", "b", "c", "d", "f")
        with pytest.raises(TypeError):
            one()
        if how.get("frozen"):
            with pytest.raises(dataclasses.FrozenInstanceError):
                one(3).a = 4
            with pytest.raises(dataclasses.FrozenInstanceError):
                del one(3).a
        else:
            changed = one(3)
            changed.a = 4
            assert changed.a == 4
    assert (ours.__hash__ is None) is (theirs.__hash__ is None)
    if how.get("frozen"):
        assert hash(ours(3, c=[1])) == hash(ours(3, c=[1], d="y")) == hash(theirs(3, c=[1]))
    assert hasattr(ours(3), "__dict__") is hasattr(theirs(3), "__dict__")


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that crosses processes."""

    a: int
    b: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True)
class Own:
    """One that says itself what is equal."""

    a: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __repr__(self) -> str:
        return "own"


def test_what_a_class_has_itself_stays() -> None:
    assert pickle.loads(pickle.dumps(Kept(3, (4,)))) == Kept(3, (4,))
    with pytest.raises(ValueError, match="negative"):
        Kept(-1)
    assert Own(3) == Own(4)
    assert repr(Own(3)) == "own"
    assert hash(Own(3)) == hash((3,))


def test_a_dataclass_of_a_dataclass_is_one() -> None:
    @dataclass(frozen=True)
    class More(Kept):
        c: int = 5

    assert More(1, (), 6) == More(1, (), 6)
    assert repr(More(1)).endswith("More(a=1, b=(), c=5)")
