"""`cute-viz gallery --validate`: whether spec files are right."""

from __future__ import annotations

import os
from functools import partial

import click

from cute_viz.cli import output
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError, boundary
from cute_viz.files import read_text
from cute_viz.gallery.plan import name_files, reserved, root_of
from cute_viz.renderers import format_named
from cute_viz.spec import Library
from cute_viz.spec.build import Builder
from cute_viz.spec.made import Spec
from cute_viz.spec.yaml import Value
from cute_viz.spelling import count as counted


def files_in(specs: tuple[str, ...]) -> tuple[str, ...]:
    """The spec files that words name: files, and those in folders."""
    found = []
    for word in specs:
        inside = sorted(os.listdir(word)) if os.path.isdir(word) else []
        found += [os.path.join(word, name) for name in inside if name.endswith((".yaml", ".yml"))] or [word]
    return tuple(found)


def validated(files: tuple[str, ...], schema: bool, doc: bool, library: Library) -> int:
    """Validate spec files, or print what they may hold; the exit status."""
    if schema or doc:
        import json

        from cute_viz.spec.schema import document, json_schema

        click.echo(json.dumps(json_schema(), indent=2) if schema else document(), nl=schema)
        return 0
    if not files:
        raise click.UsageError("name a spec file, or give --schema")
    failed = False
    for path in files:
        try:
            fine, errors = _check(path, library)
        except CuteVizError as failure:
            fine, errors = "", [failure]
        for error in errors:
            output.error(error.named(path), "spec")
        if not errors:
            output.say(f"{path}: {fine}", err=False)
        failed |= bool(errors)
    return 1 if failed else 0


def _check(path: str, library: Library) -> tuple[str, list[CuteVizError]]:
    """What is fine in a file, in words, and what is wrong."""
    from cute_viz.spec.library_files import library_of

    text = read_text(path, root_of(path))
    if (atoms := library_of(path, text)) is not None:
        from cute_viz.spec.check_library import check_library

        entries, tried, wrong = check_library(atoms)
        return f"{entries} entr{'y' if entries == 1 else 'ies'} fine, {counted(tried, 'operation')} tried", list(wrong)
    found: list[CuteVizError] = []
    builder, taken = Builder(text, path, library), reserved()
    parts = builder.parts()
    for name, fields in parts.items():
        builder.wrong, errors = [], list[CuteVizError]()
        for step in (partial(name_files, builder, name, fields, (), taken), partial(_check_spec, builder, name, fields, errors)):
            try:
                with boundary():
                    step()
            except CuteVizError as error:
                errors.append(error)
        found += {error.explain(): error for error in (*errors, *builder.wrong)}.values()  # each once
    return f"{counted(len(parts), 'spec')} fine", sorted(found, key=lambda error: error.span.start if error.span else 0)


def _check_spec(builder: Builder, name: str, fields: Value, errors: list[CuteVizError]) -> None:
    """Refuse what would go wrong when the spec is drawn: an unknown format or palette, a figure that cannot be; `errors` receives
    each expectation that does not hold."""
    spec = builder.spec(name, fields)
    for word in spec.formats:
        try:
            format_named(word)
        except CuteVizError as error:
            raise spec.locate(error, "formats") from None
    for key in ("same", "covers", "conflict_free", "vector", "size", "cosize"):
        try:
            failure = _expected(spec, key) if key in spec.expect else ""
        except CuteVizError as error:
            errors.append(spec.locate(error, f"expect.{key}"))
            continue
        if failure:
            errors.append(spec.locate(CuteVizError(f"{key} does not hold: {failure}"), f"expect.{key}"))
    answer = ask(Request((spec,), formats=spec.formats, library=builder.asked))
    try:
        assert answer.how is not None
    except CuteVizError as error:
        raise spec.locate(error, "palette") from None
    assert answer.figure is not None


def _expected(spec: Spec, key: str) -> str:
    """Where what is expected of a spec's object fails, "" where it holds."""
    from cute_viz.analysis import expect
    from cute_viz.options.words import parse_tile, read

    wanted = spec.expect[key]
    if key == "same":
        return expect.same(spec.obj, wanted)
    if key == "covers":
        return expect.covers(spec.obj, None if wanted == "yes" else parse_tile(wanted))
    if key in ("vector", "size", "cosize"):
        if not wanted.isdecimal() or len(wanted) > 18:
            raise CuteVizError(f"{wanted!r} is not a number{' of bits' if key == 'vector' else ''}", hint="example: 128")
        return expect.vector(spec.obj, int(wanted)) if key == "vector" else expect.measure(spec.obj, key, int(wanted))
    how = {word: spec.expect[word] for word in ("operand", "instruction") if word in spec.expect}
    return expect.conflict_free(spec.obj, wanted, read("type", spec.expect.get("type")), **how)
