"""What the reader of Python files says of a name is what CPython gives it; what it does not follow makes all it touches unknown."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from cute_viz.algebra.inttuple import Underscore
from cute_viz.errors import CuteVizError
from cute_viz.source.model import Given
from cute_viz.source.python import read
from tests import python_programs

UNKNOWN = "?"


def plain(value: Any) -> Any:
    if isinstance(value, Underscore):
        return None
    return tuple(map(plain, value)) if isinstance(value, (tuple, list)) else value


def values(text: str) -> dict[str, Any]:
    """The values that the reader gives the names of a module, UNKNOWN for those that it does not know."""
    out = {}
    for entry in read(text, Given()).entries:
        if not entry.scope:
            try:
                out[entry.name] = plain(entry.read())
            except CuteVizError:
                out[entry.name] = UNKNOWN
    return out


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("begin", range(0, 120, 10))
def test_random_functions_have_the_values_of_cpython(begin: int) -> None:
    right = 0
    for seed in range(begin, begin + 10):
        text = python_programs.program(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = python_programs.values_of(text)
        found = values(text)
        wrong = {name: (found[name], value) for name, value in expected.items() if found[name] not in (UNKNOWN, plain(value))}
        assert not wrong, (seed, wrong)
        right += sum(found[name] != UNKNOWN for name in expected)
    assert right > 12, "the reader follows about half of them"


DARK = """
def opaque(x):
    return int(f"{x:d}")
u = opaque(5)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p = [1]\nq = p\nq += [2]\nr = len(p)", 2),
        ("p = [1, 2]\ndel p[1:]\nr = len(p)", UNKNOWN),
        ("p = [1]\nif u > 3:\n    p.append(2)\nr = len(p)", UNKNOWN),
        ("p = [1]\nfor i in range(u):\n    p.append(2)\nr = len(p)", UNKNOWN),
        ("p = [1]\nfor i in range(u):\n    n = len(p)\n    p.append(2)\nr = n", UNKNOWN),
        ("p = [1]\nq = [2]\no = p if u > 3 else q\no.append(4)\nr = len(p)", UNKNOWN),
        ("p = [1]\nu > 3 and p.append(4)\nr = len(p)", UNKNOWN),
        ("p = [1]\nx = p.pop() if u > 3 else 0\nr = len(p)", UNKNOWN),
        ("r = u or True", UNKNOWN),
        ("r = u > 9 or True", True),
        ("p = [1]\nopaque(p)\nr = len(p)", 1),
        ("p = [1]\nunheard_of(p)\nr = len(p)", UNKNOWN),
        ("p = [1]\nunheard_of((0, {'k': p}))\nr = len(p)", UNKNOWN),
        ("n = 1\ndef f(x=n):\n    return x\nn = 2\nr = f()", 1),
        ("def f(x=[]):\n    x.append(1)\n    return len(x)\nf()\nr = f()", 2),
        ("n = 1\ndef f():\n    global n\n    n = 4\nf()\nr = n", 4),
        ("n = 1\ndef f():\n    n = 4\nf()\nr = n", 1),
        (
            "def f():\n    n = 1\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g() + n\nr = f()",
            4,
        ),
        ("fs = [lambda: i for i in range(3)]\nr = fs[0]()", 2),
        ("x = 1\ny = [x for x in (4, 5)]\nr = x", 1),
        ("y = [(z := x) for x in (4, 5)]\nr = z", 5),
        ("try:\n    n = 1\n    opaque(2)\n    n = 2\nexcept ValueError:\n    pass\nr = n", UNKNOWN),
        ("n = 1\ntry:\n    n = 2\nfinally:\n    n += 4\nr = n", 6),
        ("n = 0\nfor i in range(3):\n    if i == u:\n        break\n    n = i\nelse:\n    n = 9\nr = n", UNKNOWN),
        ("for i in range(3):\n    pass\nelse:\n    r = 9", 9),
        ("p = [1, 2, 3]\nfor x in p:\n    if len(p) < 5:\n        p.append(x)\nr = len(p)", UNKNOWN),
        ("n = 5\ndef f():\n    global n\n    try:\n        return\n    except ValueError:\n        n = 4\nf()\nr = n", UNKNOWN),
        ("n = 5\ndef f():\n    global n\n    if u > 3:\n        return\n    else:\n        n = 4\nf()\nr = n", UNKNOWN),
        ("n = 5\ndef f():\n    global n\n    if u > 3:\n        return\n    n = 4\nf()\nr = n", UNKNOWN),
        (
            "p = [5]\ndef f():\n  match u:\n    case 1: return\n    case _: p[0] = 4\nf()\nr = p[0]",
            UNKNOWN,
        ),
        ("class A:\n    x = 1\na = A()\ndef f():\n    if u:\n        return\n    else:\n        a.x = 4\nf()\nr = a.x", UNKNOWN),
        ("n = 5\ndef f():\n    global n\n    while u > 3:\n        return\n    n = 4\nf()\nr = n", UNKNOWN),
        ("n = 5\ndef f():\n    global n\n    if u > 3:\n        n = 4\n        return\n    else:\n        n = 4\nf()\nr = n", 4),
        (
            "n = 5\ndef f():\n    global n\n    if u > 3:\n        n = 0\n        if u > 4:\n"
            "            return\n        n = 5\n    else:\n        n = 5\nf()\nr = n",
            UNKNOWN,
        ),
        (
            "n = 5\ndef f():\n    global n\n    if u > 3:\n        n = 4\n        if u > 4:\n"
            "            return\n        n = 6\n    n = 4\nf()\nr = n",
            4,
        ),
        (
            "n = 5\ndef f():\n    global n\n    try:\n        n = u\n        raise ValueError\n"
            "    except ValueError:\n        if n > 1:\n            return\n        n = 4\nf()\nr = n",
            UNKNOWN,
        ),
        ("match u:\n    case 1:\n        n = 1\n    case _:\n        n = 2\nr = n", UNKNOWN),
        ("match (1, 4):\n    case (0, x):\n        r = 0\n    case (1, x) if x > 3:\n        r = x", 4),
        ("d = 3\nfor i in range(3):\n    d = 2\n    if u > 3:\n        continue\n    d += 1\nr = d", UNKNOWN),
        ("p = [3, 4]\nr = p[u]", UNKNOWN),
        ("p = [3, 3]\nr = p[u]", 3),
        ("p = [[3], [4]]\np[u].append(1)\nr = len(p[0])", UNKNOWN),
        ("p = [3, 4]\np[u] = 3\nr = p[0]", UNKNOWN),
        ("p = {'k': 3}\nr = p[u]", UNKNOWN),
        ("r = len({4, 4, 5})", 2),
        ("r = list({4, 4, 5})", UNKNOWN),
        ("r = {1: 2} == {1: 2}", UNKNOWN),
        ("def g():\n    p.append(1)\n    yield 1\np = []\ng()\nr = len(p)", UNKNOWN),
        ("def f(a, *b, c=1, **d):\n    return (a, b, c, len(d))\nr = f(1, *(2, 3), **{'c': 4, 'e': 5})", (1, (2, 3), 4, 1)),
        (
            "@dataclass\nclass A:\n    x: int\n@dataclass\nclass B(A):\n    y: int = 2\nr = B(4, 5).x",
            4,
        ),
        ("@dataclass\nclass A:\n    n: ClassVar[int] = 3\n    x: int = 1\nr = A(4).x", 4),
        ("class A:\n    n = 1\nclass B(A):\n    pass\nA.n = 2\nr = B().n", 2),
        ("class A:\n    def __init__(self):\n        self.x = 1\na = A()\nunheard_of(a)\nr = a.x", UNKNOWN),
        ("class A:\n    x = 1\na, b = A(), A()\no = a if u else b\no.x = 5\nr = a.x", UNKNOWN),
        ("class A:\n    x = 1\na = A()\nif u:\n    a.x = 5\nr = a.x", UNKNOWN),
    ],
)
def test_what_is_not_followed_is_unknown(body: str, expected: Any) -> None:
    assert values(DARK + body)["r"] == expected
