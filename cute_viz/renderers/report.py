"""A report as a page of HTML: a verdict, memory in bars, and the source beside its rows, each of which opens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import NamedTuple

_AROUND = 30  # lines of the source that are shown around a row


class ReportRow(NamedTuple):
    """A row: its line, a word for the included file or "", statement, where it is called, instruction, what it costs and the
    ideal with their unit, the verdict in a word, the fix in words; why; the edits as (place, old, new), what follows from them,
    what the figures rest on as (word, text); and pictures as SVG."""

    line: int
    file: str
    statement: str
    call: str
    instruction: str
    now: int | None
    ideal: int | None
    unit: str
    result: str
    fix: str = ""
    why: str = ""
    edits: Sequence[tuple[str, str, str]] = ()
    after: str = ""
    basis: Sequence[tuple[str, str]] = ()
    pictures: Sequence[str] = ()


class Bar(NamedTuple):
    """A memory: its name, what it has in words, the most that it can have or 0, and its parts by name, size and stages."""

    name: str
    told: str
    most: int
    parts: Sequence[tuple[str, int, int]]


class ReportPage(NamedTuple):
    """A page: title, what it is of, the verdict as a figure and a sentence, what follows, figures as (name, now, after, note),
    bars, rows, the source, and what was not evaluated or not counted."""

    title: str
    about: str
    figure: str
    verdict: str
    note: str
    figures: Sequence[tuple[str, str, str, str]]
    bars: Sequence[Bar]
    rows: Sequence[ReportRow]
    source: str = ""
    missing: Sequence[str] = ()


def page(of: ReportPage) -> bytes:
    """The page."""
    style, script = ((files("cute_viz.renderers") / "assets" / f"report.{end}").read_text("utf-8") for end in ("css", "js"))
    title = escape(of.title)
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>{title} · cute-viz report</title><style>{style}</style></head><body><main>",
        f"<header><h1>{title}</h1><p>{escape(of.about)}</p></header>",
        "<section class='totals'><div class='verdict'><p>"
        + (f"<b>{escape(of.figure)}</b> " if of.figure else "")
        + f"{escape(of.verdict)}</p><small>{escape(of.note)}</small></div>",
        *_figures(of.figures),
        "</section>",
        *(["<section class='memory'>", *(_bar(bar) for bar in of.bars), "</section>"] if of.bars else []),
        f"<section class='report{'' if of.source else ' alone'}'>",
        "".join(_source(of)),
        "<div class='rows'><h2>Accesses <small>worst first, one execution by a block</small></h2>",
        *(_row(n, row) for n, row in enumerate(of.rows) if row.result != "ideal"),
        *_ideal(of.rows),
        "</div></section>",
    ]
    if of.missing:
        parts += ["<section><h2>Not counted</h2><ul>", *(f"<li>{escape(line)}</li>" for line in of.missing), "</ul></section>"]
    return "\n".join([*parts, f"</main><script>{script}</script></body></html>\n"]).encode()


def _figures(figures: Sequence[tuple[str, str, str, str]]) -> Iterator[str]:
    for name, now, after, note in figures:
        told = f"<b>{escape(now)}</b>" + (f" → <b class='good'>{escape(after)}</b>" if after else "")
        yield f"<div class='figure'><span>{escape(name)}</span><p>{told}</p><small>{escape(note)}</small></div>"


def _bar(bar: Bar) -> str:
    used = sum(size for _, size, _ in bar.parts)
    track = f"<div class='track'><i style='width:{min(100, 100 * used / bar.most):.1f}%'></i></div>" if bar.most else ""
    parts = ""
    for name, size, stages in sorted(bar.parts, key=lambda part: -part[1]):
        tip = escape(f"{name}: {size:,}" + f", {stages} stages" * (stages > 1), True)
        wide = max(size, used // 24 + 1)
        axis = f"<s>{''.join(f'<u>{word}</u>' for word in ('stage 0', *range(1, stages)))}</s>" if stages > 1 else ""
        parts += f"<i style='flex:{wide}' title='{tip}'><b>{escape(name)}</b><span>{size:,}</span>{axis}</i>"
    head = f"<p class='between'><b>{escape(bar.name)}</b><span>{escape(bar.told)}</span></p>"
    return f"<div>{head}{track}<div class='parts'>{parts}</div></div>"


def _source(of: ReportPage) -> Iterator[str]:
    """The source with a mark at each line that has rows; what is far from all of them is left out."""
    if not of.source:
        return
    marks: dict[int, list[int]] = {}
    for n, row in enumerate(of.rows):
        if not row.file:
            marks.setdefault(row.line, []).append(n)
        for place, _, _ in row.edits:
            if place.isdigit():
                marks.setdefault(int(place), []).append(n)
    lines = of.source.splitlines()
    near = {n for line in marks for n in range(line - _AROUND, line + _AROUND + 1)}
    yield "<pre class='source' tabindex='0' aria-label='The source'>"
    last = 0
    for n, text in enumerate(lines, 1):
        if n not in near and len(lines) > 4 * _AROUND:
            continue
        if n > last + 1:
            yield "<i class='gap'>...</i>"
        last = n
        mine = marks.get(n, [])
        worst = next((row for row in map(of.rows.__getitem__, mine) if row.result != "ideal"), None)
        kind = (
            " class='bad'"
            if worst is not None and worst.line == n
            else " class='edit'"
            if worst is not None
            else " class='good'" * bool(mine)
        )
        word = "" if not mine else (worst.result if worst is not None and worst.line == n else "fix" if worst is not None else "✓")
        link = f"<a href='#row{mine[0]}'>{escape(word)}</a>" if mine else ""
        yield f"<span id='L{n}'{kind}><em>{n}</em>{link}<code>{escape(text)}</code></span>"
    yield "</pre>"


def _ideal(rows: Sequence[ReportRow]) -> Iterator[str]:
    """The rows that cost no more than they must, folded behind the others."""
    good = [_row(n, row) for n, row in enumerate(rows) if row.result == "ideal"]
    if good:
        told = f"{len(good)} {'more ' * (len(good) < len(rows))}access{'es are' if len(good) > 1 else ' is'} ideal"
        yield f"<details class='rest'{' open' * (len(good) == len(rows))}><summary>{told}</summary>{''.join(good)}</details>"


def _row(n: int, row: ReportRow) -> str:
    place = f"{row.file}:{row.line}" if row.file else f"<a href='#L{row.line}'>{row.line}</a>"
    bad = row.result != "ideal"
    cost = (
        ""
        if row.now is None
        else f"<b>{row.now:,}</b> {escape(row.unit[: -1 if row.now == 1 else None])}"
        + (f", {row.ideal:,} ideal" if bad and row.ideal is not None else "")
    )
    called = f"launched by {row.call}" * bool(row.call)
    more = ", ".join(filter(None, (row.instruction, called))) + f" · {row.fix}" * bool(row.fix)
    head = (
        f"<span class='place'>{place}</span><code>{escape(row.statement)}</code><span class='cost'>{cost}</span>"
        f"<em class='{'worse' if bad else 'good'}'>{escape(row.result)}</em><small>{escape(more)}</small>"
    )
    told = [f"<h3>Why</h3><p>{escape(row.why)}</p>"] if row.why else []
    for where, old, new in row.edits:
        told.append(f"<h3>Fix <small>line {escape(where)}</small></h3><pre><del>{escape(old)}</del><ins>{escape(new)}</ins></pre>")
    told += [f"<p>{escape(row.after)}</p>"] * bool(row.after)
    if row.basis:
        told.append(
            "<h3>What this rests on</h3><ul>" + "".join(f"<li><b>{escape(a)}</b> {escape(b)}</li>" for a, b in row.basis) + "</ul>"
        )
    inside = f"<div class='inside'><div class='pictures'>{''.join(row.pictures)}</div><div class='why'>{''.join(told)}</div></div>"
    opened = " open" if n == 0 and bad else ""
    return f"<details id='row{n}'{opened}><summary>{head}</summary>{inside}</details>"
