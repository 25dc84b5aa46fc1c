"""Exercises: keys worked out again from the words of the questions, in plain arithmetic, and answers written otherwise."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import pairwise

import pytest

from cute_viz.engine.quiz import TOPICS, is_right, quiz
from tests.commands import fails, run

SEEDS = range(int(os.environ.get("CUTE_VIZ_SEEDS", "80")))  # 300 take half a minute


def read(text):
    """Plain layout `shape:stride` as tuples, with its swizzle or (0, 0, 0)."""
    swizzle, _, plain = text.rpartition(" o ")
    shape, stride = map(eval, plain.split(":"))
    return shape, stride, eval(swizzle[2 : swizzle.index(">")].replace("<", "(") + ")") if swizzle else (0, 0, 0)


def size(shape):
    out = 1
    for part in shape if isinstance(shape, tuple) else ():
        out *= size(part)
    return out if isinstance(shape, tuple) else shape


def flat(shape, stride):
    """Extents and strides, the fastest first."""
    if not isinstance(shape, tuple):
        return [(shape, stride)]
    return [leaf for pair in zip(shape, stride, strict=True) for leaf in flat(*pair)]


def xor(x, bits, base, shift):
    return x ^ (x >> shift & ((1 << bits) - 1) << base)


def at(layout, *where):
    """The offset at an index, or at a coordinate of as many modes."""
    shape, stride, swizzle = read(layout) if isinstance(layout, str) else layout
    total = 0
    pairs = [((shape,), (stride,))] if len(where) == 1 else zip(shape, stride, strict=True)
    for index, (extent, step) in zip(where, pairs, strict=True):
        for n, d in flat(extent, step):
            total += index % n * d
            index //= n
    return xor(total, *swizzle)


def table(layout):
    return [at(layout, i) for i in range(size(read(layout)[0]))]


def is_coalesced(layout):
    shape, stride, _ = read(layout)
    leaves = flat(shape, stride)
    return all(n > 1 for n, _ in leaves) and all(b[1] != a[0] * a[1] for a, b in pairwise(leaves))


def wavefronts(layout):
    """Words of the fullest bank, where each lane reads the first 16 bytes of a row of halves."""
    banks = {}
    for row in range(8):
        for byte in range(0, 16, 4):
            word = (at(layout, row, 0) * 2 + byte) // 4
            banks.setdefault(word % 32, set()).add(word)
    return max(map(len, banks.values()))


def of_layout(one, two, three, four):
    source, r, c = re.match(r"A = (.*)\. What is A\((\d+),(\d+)\)\?", one.text).groups()
    rows, cols = map(size, read(source)[0])
    assert int(one.answer) == at(source, int(r), int(c))
    wanted = int(re.search(r"the offset (\d+)\?", two.text)[1])
    cells = {(i, j): at(source, i, j) for i in range(rows) for j in range(cols)}
    assert [cell for cell, offset in cells.items() if offset == wanted] == [eval(two.answer)]
    assert int(three.answer) == max(cells.values()) + 1
    order = sorted(cells, key=cells.get)
    near = sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in pairwise(order))
    assert int(four.answer) == near


def of_composition(one, two, three, four):
    a, b = re.match(r"A = (.*), B = (.*)\. What is composition", one.text).groups()
    meant = [at(a, x) for x in table(b)]
    assert table(one.answer) == meant
    assert is_coalesced(one.answer)
    assert int(two.answer) == meant[int(re.search(r"R\((\d+)\)", two.text)[1])]
    parts = re.search(r"coalesce\((.*)\)\?", three.text)[1]
    assert table(three.answer) == table(parts)
    assert is_coalesced(three.answer)
    same, whole = re.search(r"complement\((.*), (\d+)\)\?", four.text).groups()
    assert same == b
    taken, starts = set(), []
    for x in range(int(whole)):
        if x not in taken:
            starts.append(x)
            taken |= {x + y for y in table(b)}
    assert table(four.answer) == starts
    assert is_coalesced(four.answer)


def of_divide(one, two, three, four):
    a, tile = re.match(r"A = (.*)\. What is logical_divide\(A, (.*)\)\?", one.text).groups()
    (rows, cols), (down, across) = read(a)[0], eval(tile)
    shape, stride, _ = read(one.answer)
    assert shape == ((down, rows // down), (across, cols // across))
    for r in range(rows):
        for c in range(cols):
            inside = r % down * stride[0][0] + c % across * stride[1][0]
            assert inside + r // down * stride[0][1] + c // across * stride[1][1] == at(a, r, c)
    assert eval(two.answer) == ((down, across), (rows // down, cols // across))
    assert f"(A, {tile})" in two.text
    corners = [(r, c) for c in range(0, cols, across) for r in range(0, rows, down)]
    assert int(three.answer) == len(corners)
    assert int(four.answer) == at(a, *corners[-1])


def of_swizzle(one, two, three, four, five):
    a, r, c = re.match(r"A = (.*)\. Which offset has A\((\d+),(\d+)\)\?", one.text).groups()
    offset = at(a, int(r), int(c))
    assert int(one.answer) == offset
    assert f"A({r},{c})" in two.text
    assert int(two.answer) == offset % 64 // 8
    swizzle, x = re.match(r"What is (Sw<.*>)\((\d+)\)\?", three.text).groups()
    assert a.startswith(swizzle)
    assert int(three.answer) == xor(int(x), *read(f"{swizzle} o 8:1")[2])
    assert int(four.answer) == sum(all(at(a, r, c) == 64 * r + c for c in range(64)) for r in range(8))
    assert int(five.answer) == wavefronts(a)


def of_tv(one, two, three):
    tv, rows, cols, r, c = re.match(r"(.*) maps .* tile of (\d+) x (\d+)\. .*\(row (\d+), column (\d+)\)\?", one.text).groups()
    held = {}
    for thread in range(32):
        for value in range(int(rows) * int(cols) // 32):
            place = at(tv, thread, value)
            held[place % int(rows), place // int(rows)] = thread, value
    assert len(held) == int(rows) * int(cols)
    assert (int(one.answer), int(two.answer)) == held[int(r), int(c)]
    thread = int(re.search(r"thread (\d+) hold", three.text)[1])
    assert sorted(eval(f"[{three.answer}]")) == sorted(cell for cell, owner in held.items() if owner[0] == thread)


def of_conflicts(*questions):
    for question in questions:
        layout = re.search(r"row of (.*), half_t", question.text)[1]
        assert int(question.answer) == wavefronts(layout)


@pytest.mark.parametrize("topic", TOPICS)
def test_keys_are_plain_arithmetic(topic):
    sheets = [quiz(topic, seed) for seed in SEEDS]
    for sheet in sheets:
        globals()[f"of_{topic}"](*sheet.questions)
    assert len({tuple(question.text for question in sheet.questions) for sheet in sheets}) >= len(SEEDS) * 0.7 or len(SEEDS) > 100


def otherwise(answer):
    """The same answer in other notations."""
    marked = re.sub(r"\d+", r"_\g<0>", answer)
    yield from (answer, f" {answer} ", marked, answer.replace(",", " , ").replace(":", " : "))
    if answer.isdecimal():
        yield from (f"0{answer}", f"T{answer}")
    elif ":" in answer:
        shape, stride = answer.split(":")
        words = re.sub(r"\((?=[\d(])", "make_shape(", shape), re.sub(r"\((?=[\d(])", "make_stride(", stride)
        yield f"make_layout({words[0]}, {words[1]})"
        yield f"cute.make_layout({shape}, stride={stride})"
        yield f"({shape}):({stride})"
        types = [re.sub(r"\d+", r"_\g<0>", part).replace(")", ">") for part in (shape, stride)]
        types = [part.replace("(", f"{name}<") for name, part in zip(("Shape", "Stride"), types, strict=True)]
        yield f"Layout<{types[0]}, {types[1]}>{{}}"
    elif answer.count("(") > 1 and "((" not in answer:
        cells = re.findall(r"\(.*?\)", answer)
        yield from (" ".join(reversed(cells)), f"[{', '.join(cells)}]")


def wrong(answer):
    """What is near the answer, and is not it."""
    number = re.search(r"\d+", answer)
    yield answer[: number.start()] + str(int(number[0]) + 1) + answer[number.end() :]
    yield from ("", "?", "nonsense(", "8:", "()", f"{answer}1", f"{answer} or 3")
    if answer.startswith("((") and ":" not in answer:
        one, two = eval(answer)
        if one != two:
            yield str((two, one))


@pytest.mark.parametrize("topic", TOPICS)
def test_answers_may_be_written_otherwise(topic):
    for seed in range(6):
        for question in quiz(topic, seed).questions:
            for words in otherwise(question.answer):
                assert is_right(question.answer, words), (question, words)
            for words in wrong(question.answer):
                assert not is_right(question.answer, words), (question, words)


def test_what_has_yet_to_be_computed_is_no_answer():
    assert is_right("8:1", "(8):(1)")
    for words in ("coalesce((4,2):(1,4))", "(4,2):(1,4)", "composition(8:1, 8:1)", "right_inverse(8:1)"):
        assert not is_right("8:1", words)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_sheet_in_each_format(topic, tmp_path):
    sheet = quiz(topic, 7)
    for suffix in ("html", "tex", "md", "txt"):
        assert run("quiz", topic, "--seed", "7", "-o", str(tmp_path / f"s.{suffix}")).returncode == 0
    text = (tmp_path / "s.txt").read_text()
    assert [line for line in text.splitlines() if re.match(r"\d\. ", line)] == [
        f"{n}. {words}" for part in ("text", "answer") for n, words in enumerate([getattr(q, part) for q in sheet.questions], 1)
    ]
    page = (tmp_path / "s.html").read_text()
    assert page.count("<li><p>") == len(sheet.questions)
    assert page.count("<svg") == 1
    assert (tmp_path / "s.tex").read_text().count(r"\item") == 2 * len(sheet.questions)
    assert "the suffix is one of" in fails(run("quiz", topic, "-o", str(tmp_path / "s.doc")), 2)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("topic", ["swizzle", "tv"])
def test_a_sheet_for_a_class_is_one_page(topic, tmp_path):
    run("quiz", topic, "--seed", "3", "-o", str(tmp_path / "s.tex"))
    done = subprocess.run(["pdflatex", "-interaction=batchmode", "-halt-on-error", "s.tex"], cwd=tmp_path, capture_output=True)
    log = (tmp_path / "s.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log
    assert "(1 page," in log
