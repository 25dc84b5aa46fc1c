"""The algebra against the real CuTe: every operation as its headers compute it (tests/data/algebra_vectors.json.gz)."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest

from cute_viz import parse
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.table import offsets
from cute_viz.analysis.explain import explain
from cute_viz.errors import AlgebraError
from cute_viz.source.text import read, read_call

VECTORS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "algebra_vectors.json.gz").read_bytes()))
ROWS = defaultdict(list)
for _row in VECTORS["accepted"]:
    ROWS[_row[0]].append(_row[1:])


def test_the_vectors_are_there():
    count = len(VECTORS["accepted"])
    assert count == 3446, f"{count:,} rows: if they were added on purpose, correct this number, README and tests/test_documents.py"
    assert len(VECTORS["rejected"]) == 114


@pytest.mark.parametrize("operation", [name for name in ROWS if name != "swizzle"])
def test_results_and_tables(operation):
    wrong = []
    for expression, result, table, *_ in ROWS[operation]:
        value = parse(expression)
        if re.sub(r"_(?=-?\d)", "", show(value)) != result:
            wrong.append((expression, show(value), result))
        elif table is not None and crc32(",".join(map(str, offsets(value))).encode()) != table:
            wrong.append((expression, "its values are not those whose CRC-32 the row has"))
    assert not wrong


@pytest.mark.parametrize("operation", [name for name in ROWS if name != "swizzle"])
def test_every_explanation_ends_in_the_result(operation):
    for expression, result, *_ in ROWS[operation][::4]:
        name, operands, template = read_call(expression)
        if name:
            steps = explain(name, operands, template)
            assert re.sub(r"_(?=-?\d)", "", show(steps[-1].value)) == result, expression
            assert all(step.words for step in steps)


def test_swizzles():
    for text, _, table in ROWS["swizzle"]:
        swizzle = parse(text)
        assert [swizzle(i) for i in range(len(table))] == table


def test_compositions_that_are_not_what_they_seem_are_told():
    flags = []
    for expression, _, _, pointwise in (row for row in ROWS["composition"] if len(row) == 4):
        warnings: list[str] = []
        read(expression, warnings=warnings)
        flags.append((pointwise, not warnings))
    assert all(expected == told for expected, told in flags)
    assert (False, False) in flags


@pytest.mark.parametrize(("expression", "message"), VECTORS["rejected"])
def test_what_a_static_assert_refuses_is_refused_in_words(expression, message):
    with pytest.raises(AlgebraError) as caught:
        parse(expression)
    told = caught.value.message
    for condition in ("Stride Divisibility Condition", "Shape Divisibility Condition", "Non-injective"):
        if condition.lower() in message.lower():
            assert condition.split()[0].lower() in told.lower()
    assert "(" in told  # the operands
    assert caught.value.span is not None
