"""`cute-viz quiz`: an exercise, its key, and whether answers are right."""

from __future__ import annotations

import html
import os

import click

from cute_viz.cli import output
from cute_viz.cli.words import FILE, Choice, Command
from cute_viz.engine import Request, ask
from cute_viz.engine.quiz import TOPICS, Quiz, QuizQuestion, check, quiz
from cute_viz.errors import CuteVizError
from cute_viz.files import read_text

FORMATS = (".html", ".tex", ".md", ".txt")


@click.command(cls=Command)
@click.argument("topic", type=Choice(tuple(TOPICS)), default="layout", metavar="[TOPIC]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Another seed, other numbers")
@click.option("--key", is_flag=True, help="Print the answers below the sheet")
@click.option("--check", "answers", **FILE, help="Check answers, YAML: topic, seed, 1: 19; exit 1 if wrong")
@click.option("-o", "--output", "path", **FILE, help="Write .html, .tex, .md or .txt, with the key at the end")
def command(topic: str, seed: int, key: bool, answers: str | None, path: str | None) -> None:
    """Make an exercise on TOPIC: layout, composition, divide, swizzle, tv or conflicts.

    The same TOPIC and seed make the same questions, with answers from the evaluation that all commands share.
    """
    if answers is not None:
        _check(topic, seed, answers)
        return
    sheet = quiz(topic, seed)
    suffix = os.path.splitext(path or "x.txt")[1]
    if suffix not in FORMATS:
        raise click.UsageError(f"-o {path}: the suffix is one of {', '.join(FORMATS)}")
    text = {".html": _html, ".tex": _tex}.get(suffix, _text)(sheet, key or path is not None)
    output.write(text.encode(), path)


def _check(topic: str, seed: int, path: str) -> None:
    """Answers of a sheet, which they may name: topic, seed."""
    from cute_viz.spec.yaml import Keys, read_yaml

    value = read_yaml(read_text(path, None), path)
    if not isinstance(value, Keys):
        raise CuteVizError("answers are a mapping of numbers to answers", name=path, hint="example:  1: 19")
    named = str(value.get("seed", seed))
    if not named.isdecimal():
        raise CuteVizError(f"the seed of a sheet is an integer, not {named[:20]!r}", name=path)
    sheet = quiz(str(value.get("topic", topic)), int(named))
    found = check(sheet, {str(n): str(answer) for n, answer in value.items()})
    for n, right, answer in found:
        click.echo(f"{n}: {'right' if right else f'wrong, it is {answer}'}")
    if wrong := sum(not right for _, right, _ in found):
        raise CuteVizError(f"{wrong} of {len(found)} answers are wrong")


def _text(sheet: Quiz, key: bool) -> str:
    lines = [f"{sheet.title} ({sheet.topic}, seed {sheet.seed})", ""]
    lines += [f"{n}. {q.text}" for n, q in enumerate(sheet.questions, 1)]
    if key:
        lines += ["", "Key", *(f"{n}. {q.answer}" for n, q in enumerate(sheet.questions, 1))]
    return "\n".join(lines) + "\n"


def _picture(question: QuizQuestion, format_: str) -> str:
    """The picture of a question as a piece of a document."""
    if question.figure is None:
        return ""
    source, words = question.figure
    target = "readme" if format_ == "svg" else "page"
    options = {**words, "title": "Figure", "fragment": True, "bare": True, "target": target}
    return ask(Request((source,), options, formats=(format_,))).write(format_).decode()


def _html(sheet: Quiz, key: bool) -> str:
    rows = "".join(f"<li><p>{html.escape(q.text)}</p>{_picture(q, 'svg')}<p>____________</p></li>\n" for q in sheet.questions)
    answers = "".join(f"<li>{html.escape(q.answer)}</li>" for q in sheet.questions)
    end = f"<details><summary>Key</summary><ol>{answers}</ol></details>\n" if key else ""
    style = "body{font:16px system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}svg{max-width:100%;height:auto}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(sheet.title)}</title>\n<style>{style}</style>\n<h1>{html.escape(sheet.title)}</h1>\n"
        f"<p>Name ____________ <small>{sheet.topic}, seed {sheet.seed}</small></p>\n<ol>\n{rows}</ol>\n{end}</html>\n"
    )


def _tex(sheet: Quiz, key: bool) -> str:
    from cute_viz.renderers.tex import escape

    items = []
    for question in sheet.questions:
        drawn = _picture(question, "tikz")
        items.append(f"\\item {escape(question.text)}\\par\n{drawn}\\par\\medskip\\noindent\\rule{{5cm}}{{.4pt}}\n")
    answers = "".join(f"\\item {escape(question.answer)}\n" for question in sheet.questions)
    turned = f"Key\\begin{{enumerate}}\n{answers}\\end{{enumerate}}"
    end = f"\\vfill\\rotatebox{{180}}{{\\parbox{{\\linewidth}}{{{turned}}}}}\n" if key else ""
    head = f"\\section*{{{escape(sheet.title)}}}\nName \\rule{{5cm}}{{.4pt}}\n"
    packages = "\\usepackage[margin=.7in]{geometry}\n\\usepackage{tikz}\n\\usepackage{graphicx}\n"
    body = f"{head}\\begin{{enumerate}}\n{''.join(items)}\\end{{enumerate}}\n{end}"
    return f"\\documentclass{{article}}\n{packages}\\begin{{document}}\n{body}\\end{{document}}\n"
