"""Spec files and folders -> the jobs of a gallery: one a spec, with its files and the hash of all it depends on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cute_viz import __version__
from cute_viz.documents.markup import is_file_name, one_name, why_not
from cute_viz.engine.caption import suffix_of
from cute_viz.errors import CuteVizError, Span
from cute_viz.files import bytes_of, read_text, searched
from cute_viz.renderers import FORMATS, Options, format_named
from cute_viz.renderers.targets import TARGETS
from cute_viz.spec import Library
from cute_viz.spec.build import Builder
from cute_viz.spec.library_files import is_library
from cute_viz.spec.made import files_of
from cute_viz.spec.yaml import Keys, Text, Value

INDEX = ("README.md", "index.html")


@dataclass(frozen=True, slots=True)
class Task:
    """One spec to be drawn.

    key: a hash of the spec, of what its file shares, of the source files that it names, of the formats and of the program: equal
    keys, equal pictures.
    files: format -> file name; `caption.tex` and `caption.md` are those of a caption beside.
    own: the spec's name in its file. forced: whether the formats are not those of the spec.
    """

    name: str
    group: str
    key: str
    files: dict[str, str]
    builder: Builder
    value: Value
    own: str
    forced: bool

    @property
    def place(self) -> str:
        """file:line of the spec."""
        at = self.builder.at.get(self.own, self.value.span)
        return CuteVizError("", text=self.builder.text, span=at, name=self.builder.name).place().rpartition(":")[0]


@dataclass(slots=True)
class Plan:
    """The jobs, what could not be planned (as errors with their place), and the files that failed as a whole."""

    jobs: list[Task] = field(default_factory=list)
    failures: list[CuteVizError] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


def plan(paths: Sequence[str], formats: Sequence[str], library: Library) -> Plan:
    """The jobs of files and folders; `formats` instead of those that specs ask for."""
    out = Plan()
    taken = reserved()
    program = digest(library)
    for path, root in dict(spec_files(paths)).items():
        try:
            builder = Builder(read_text(path, root), path, library, root)
            parts = builder.parts()
        except (CuteVizError, OSError) as error:
            out.failures.append(_failure(error, path))
            out.broken.add(path)
            continue
        shared = f"{program}\n{json.dumps(builder.shared)}\n"
        for own, value in parts.items():
            try:
                out.jobs.append(_job(builder, own, value, formats, shared, taken))
            except CuteVizError as error:
                out.failures.append(error)
    return out


def root_of(path: str) -> str | None:
    """The folder that the links of a file do not leave; None for anything but a file, such as a pipe of the shell."""
    return os.path.dirname(path) if os.path.isfile(path) else None


def reserved() -> dict[str, str]:
    """The names that no picture may have, as `one_name` has them, each with what has it."""
    return {one_name(name): f"the index of the gallery, {name}" for name in INDEX}


def spec_files(paths: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The spec files among paths, each with the folder that links do not leave: files as they are, with the folder that they lie
    in, of folders the YAML files that hold no atoms, in order."""
    for path in paths:
        if not os.path.isdir(path):
            yield path, root_of(path)
            continue
        for spec in searched(path, (".yaml", ".yml")):
            if not os.path.basename(spec).startswith(".") and not _holds_atoms(spec):
                yield spec, path


def digest(library: Library) -> str:
    """A hash of the program and of its library of atoms: what a picture depends on beside its spec."""
    from importlib.metadata import PackageNotFoundError, version

    out = hashlib.sha256(__version__.encode())
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder, suffixes in ((here, (".py", ".css", ".js")), *((folder, (".yaml", ".yml")) for folder in library.directories())):
        for path in searched(folder, suffixes):
            with open(path, "rb") as file:
                data = file.read()
            # The specs among the YAML files have hashes of their own.
            if suffixes[0] == ".py" or is_library(data.decode(errors="replace")):
                out.update(os.path.basename(path).encode() + hashlib.sha256(data).digest())
    for package in ("svgwrite", "matplotlib"):
        try:
            out.update(version(package).encode())
        except PackageNotFoundError:
            out.update(b"-")
    return out.hexdigest()


def name_files(
    builder: Builder, own: str, value: Value, formats: Sequence[str], taken: dict[str, str]
) -> tuple[str, dict[str, str]]:
    """The name of a spec, which a file without `specs` has from its own, and format -> file; the files become taken. Raises:
    CuteVizError for names that no file can have, and files that are taken."""
    path = builder.name or ""
    name = own or os.path.splitext(os.path.basename(path))[0]
    at = builder.at.get(own, value.span)
    _check_name(builder, name, at)
    wanted = tuple(formats) or (_formats(builder, value) if isinstance(value, Keys) else ()) or ("svg",)
    files = {format_: name + FORMATS[format_].suffixes[0] for format_ in dict.fromkeys(wanted)}
    files |= {suffix[1:]: name + suffix for suffix in _captions(value, files)}
    for file in files.values():
        if one_name(file) in taken:
            raise builder.fail(
                f"{file} is taken by {taken[one_name(file)]}",
                at,
                hint="give the spec another name; to Windows and macOS, names that differ only in case are one",
            )
    taken.update({one_name(file): f"{path}: {name}" for file in files.values()})
    return name, files


def _job(builder: Builder, own: str, value: Value, formats: Sequence[str], shared: str, taken: dict[str, str]) -> Task:
    name, files = name_files(builder, own, value, formats, taken)
    stem = os.path.splitext(os.path.basename(builder.name or ""))[0]
    group = builder.description or (stem.replace("_", " ") if own else "Single figures")
    words = f"{shared}{name}\n{group}\n{json.dumps(files)}{bool(formats)}\n{json.dumps(value)}"
    key = hashlib.sha256(words.encode() + b"".join(_sources(builder, value))).hexdigest()
    return Task(name, group, key, files, builder, value, own, bool(formats))


def _sources(builder: Builder, value: Value) -> Iterator[bytes]:
    """Hashes of the source files that a spec depends on."""
    for path in (*files_of(builder.shared, builder.folder), *files_of(value, builder.folder)):
        yield hashlib.sha256(bytes_of(path) or b"").digest()


def _check_name(builder: Builder, name: str, at: Span) -> None:
    """A name that is safe as a file's on every system, and in a link."""
    if not is_file_name(name):
        raise builder.fail(f"{name[:40]!r} cannot be the name of a file", at, hint=why_not(name))


def _captions(value: Value, formats: Iterable[str]) -> Iterator[str]:
    """The suffixes of the captions beside a spec's pictures: for a place, or bare, they do not say all themselves."""
    figure = value.get("figure") if isinstance(value, Keys) else None
    if not isinstance(value, Keys) or not isinstance(figure, Keys):
        return
    words = {key: str(figure[key]) for key in ("for", "target", "bare") if isinstance(figure.get(key), Text)}
    target = words.get("for") or words.get("target")  # Python's word for it
    options = Options(
        style=str(value.get("style", "default")),
        target=target if target in TARGETS else None,
        bare=words.get("bare", "").lower() in ("true", "yes"),
    )
    yield from dict.fromkeys(filter(None, (suffix_of(format_, options) for format_ in formats)))


def _formats(builder: Builder, fields: Keys) -> tuple[str, ...]:
    words = builder.list_of_words(fields.get("formats"))
    for word in words:
        try:
            format_named(word)
        except CuteVizError as error:
            raise builder.fail(error.message, fields["formats"].span, hint=error.hint) from None
    return words


def _holds_atoms(path: str) -> bool:
    data = bytes_of(path)
    return data is not None and is_library(data.decode(errors="replace"))  # of others, reading them as a spec tells why


def _failure(error: Exception, path: str) -> CuteVizError:
    if isinstance(error, CuteVizError):
        return error.named(path)
    return CuteVizError(f"{getattr(error, 'strerror', None) or error}", name=path)
