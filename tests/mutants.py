"""Mistakes put into a copy of the project, and the tests that run the line of each: how `tests/mutations.py` asks them quickly.

The tests are run once, and for each it is kept which lines it runs, how long it takes and that it passes (`learn`). Then a process
that has read the project and its tests forks for each mistake: in the fork the functions of the line get the code of the file with
the mistake. What no test of that notices, and every mistake outside functions (tables, defaults, YAML), is asked again in a fork
that has read nothing of the project yet.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from functools import _lru_cache_wrapper
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, cast

import pytest

FORK = multiprocessing.get_context("fork")
OPTIONS = ["-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=--doctest-modules", "--disable-warnings"]
OPTIONS += ["-m", "not browser and not mcp"]
DRAWN = "tests/gallery_drawn.py"
DRAWN_KEPT = "tests/test_drawn.py::test_a_picture_is_as_it_was_kept"
PICTURES = (DRAWN, "tests/test_drawn.py", "tests/test_examples.py")  # each test is of another picture, or another function
ASKED = (  # tests of the rooms, in the order in which they are learned
    *("cute_viz/algebra", "cute_viz/analysis", "cute_viz/figures", "cute_viz/renderers", "tests/test_examples.py", DRAWN),
    *(
        "algebra_vectors",
        "layout_values",
        "coordinates",
        "tensors",
        "ops",
        "xor_inverse",
        "algebra_laws",
        "mixed",
        "layout_programs",
    ),
    *(
        "planted",
        "planted_algebra",
        "planted_figures",
        "planted_hardware",
        "planted_pages",
        "hardware",
        "tables",
        "library",
        "banks",
        "access",
        "verdict",
        "vendors",
        "hardware_random",
    ),
    *("figure_grid", "figure_tv", "figure_hardware", "follow", "boards", "talk", "quiz", "tilings", "views", "palettes"),
    *(
        "render_svg",
        "render_text",
        "render_tikz",
        "render_html",
        "writers",
        "pages",
        "targets",
        "fragment_steps",
        "specs",
        "facts",
        "report_page",
        "mpl_writers",
        "drawn",
    ),
    *("dsl_programs", "python_helpers", "cpp_source", "fuzz", "notation", "quiz", "integers", "dialects", "expressions", "steps"),
    *("tiling_steps", "seen", "reading", "cute_ir", "launches", "cpp_constants", "limits", "cli", "systems", "kernel_elements"),
    *("lanes", "paper", "printers", "same_page", "solve", "testing", "unknown", "gates", "pictures", "check_library"),
    *("check_hardware", "check", "cpp_tensors", "kernel_report", "requests", "kernel_fixes", "kernel_loops", "hostile"),
)
SLOW = 4.0  # seconds of processor time of a test that is not asked
NOTING = 8  # times as long a test takes while its lines are noted
MOST = 60.0  # those of all tests that are asked about one mistake
FILES = 6  # of tests that a fork which has read nothing collects beside those of pictures
HEADERS = ("test_tables", "test_facts")  # whose oracle is a text
SAVED = 300.0  # seconds of work after which is kept what was learned
SAME = (2, 8)  # so many cases of one test are asked before those of others, and so many before all the rest


class Verdict(NamedTuple):
    """What the tests make of a mistake: the one that fails, how many were asked, or that time ran out."""

    by: str = ""
    asked: int = 0
    endless: bool = False


def copied(root: Path, to: Path) -> Path:
    """A copy of the project, with its bytecode; of the process, too: it reads the copy from now on."""
    top = to / "project"
    shutil.copytree(root, top, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*_cache", "fuzz-findings"))
    for name in ("CUTLASS_PATH", "NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)
    os.environ |= {"PYTHONPATH": str(top), "CUTE_VIZ_DEBUG": "1"}
    os.chdir(top)
    sys.path[:] = [str(top), *[path for path in sys.path if path not in ("", str(root))]]
    for name in [one for one in sys.modules if one.split(".")[0] in ("cute_viz", "tests")]:
        if name not in ("__main__", __name__, "tests", "tests.mutations"):
            del sys.modules[name]
    import tests

    tests.__path__[:] = [str(top / "tests")]
    return top


def asked_files(top: Path) -> list[str]:
    """The files of tests that are asked, and the packages whose examples are tests."""
    named = [word if "/" in word else f"tests/test_{word}.py" for word in ASKED]
    return [path for path in named if (top / path).exists()]


class Known:
    """Which tests run which lines, and how long each takes; of which bytes of their files."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.digests: dict[str, str] = kept.get("digests", {})
        self.seconds: dict[str, float] = kept.get("seconds", {})
        names: list[str] = kept.get("names", [])
        self.lines: dict[str, dict[str, list[str]]] = {
            path: {line: [names[n] for n in several] for line, several in of.items()} for path, of in kept.get("lines", {}).items()
        }
        self.texts: dict[str, str] = kept.get("texts", {})  # of the files that the lines are of

    def move(self, top: Path) -> None:
        """Follow the lines of files that have changed since: a new line has the tests of those in its place."""
        for path, was in self.texts.items():
            now = (top / path).read_text("utf-8") if (top / path).is_file() else ""
            if now != was:
                self.lines[path] = moved(self.lines.get(path, {}), was.splitlines(), now.splitlines())
        self.texts = {path: (top / path).read_text("utf-8") for path in self.lines if (top / path).is_file()}

    def tests(self, path: str, places: Iterable[tuple[str, int]], told: Collection[str] = ()) -> list[str]:
        """The tests that run one of these lines, each of a file: the examples of a module and what is told of, then a few cases of
        each test, the quickest first."""
        found = {name for file, line in places for name in self.lines.get(file, {}).get(str(line), ())} | {*told}
        cases: dict[str, int] = {}
        order: list[tuple[bool, int, float, str]] = []
        for name in sorted(found & self.seconds.keys(), key=self.seconds.__getitem__):
            test = name if name.startswith(PICTURES) else name.partition("[")[0]
            case = cases[test] = cases.get(test, 0) + 1
            order.append((path not in name and name not in told, sum(case > most for most in SAME), self.seconds[name], name))
        spent, out = 0.0, []
        for *_, seconds, name in sorted(order):
            spent += seconds
            if out and spent > MOST:
                break
            out.append(name)
        return out


def moved(tests: dict[str, list[str]], was: list[str], now: list[str]) -> dict[str, list[str]]:
    """The tests of the lines of a text that has become another.

    >>> moved({"1": ["a"], "2": ["b"], "3": ["c"]}, ["x", "y", "z"], ["x", "new", "Y", "z"])
    {'1': ['a'], '2': ['b'], '3': ['b'], '4': ['c']}
    """
    out: dict[str, list[str]] = {}
    for kind, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        for line in range(c, d):
            before = [line - c + a] if kind == "equal" else range(a, b) if b > a else [a - 1]
            names = dict.fromkeys(name for one in before for name in tests.get(str(one + 1), ()))
            out |= {str(line + 1): list(names)} if names else {}
    return out


class _Learner:
    """Notes of each test its lines, its time and whether it passes."""

    def __init__(self, top: Path, inside: list[str], had: Collection[str], note: Callable[[Known, set[str]], None]) -> None:
        import coverage

        self.top, self.had, self.note, self.until = top, had, note, time.process_time() + SAVED
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.tracer = coverage.Coverage(
            data_file=None, include=[str(top / path) for path in inside], config_file=False, messages=False
        )
        self.tracer.start()
        signal.signal(signal.SIGPROF, _stop)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Without those that ask compilers, whose time is not this process's, and those that it had learned."""
        own = [one for one in items if one.path.stem in HEADERS or not one.get_closest_marker("oracle")]
        items[:] = [one for one in own if one.nodeid not in self.had]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.tracer.switch_context(item.nodeid)
        since = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, NOTING * SLOW)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[item.nodeid] = round(time.process_time() - since, 3)
        self.tracer.switch_context("")
        if time.process_time() > self.until:
            files = {name.partition("::")[0] for name in self.seconds}
            self.note(self.known(), files - {item.nodeid.partition("::")[0]})  # that one may have more
            self.until = time.process_time() + SAVED

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or (report.when == "call" and report.skipped):
            self.failed.add(report.nodeid)

    def known(self) -> Known:
        out, data = Known({}), self.tracer.get_data()
        out.seconds = {name: taken for name, taken in self.seconds.items() if name not in self.failed and taken < NOTING * SLOW}
        for path in data.measured_files():
            of = {str(line): [name for name in names if name] for line, names in data.contexts_by_lineno(path).items()}
            out.lines[str(Path(path).relative_to(self.top))] = {line: names for line, names in of.items() if names}
        return out


def _stop(_: int, frame: FrameType | None) -> None:
    """End a test, but not within coverage, which would keep its lock for ever."""
    at = frame
    while at is not None:
        if at.f_globals.get("__name__", "").startswith("coverage."):
            signal.setitimer(signal.ITIMER_PROF, 0.01)
            return
        at = at.f_back
    pytest.fail("too slow to be asked")


def learn(top: Path, kept: Path, inside: list[str]) -> Known:
    """What the tests run of some files: what is kept of files of tests that have not changed, and the others run once (minutes)."""
    one = FORK.Process(target=_learn, args=(top, kept, inside))
    one.start()
    one.join()
    return Known(json.loads(kept.read_text("utf-8")))


def _learn(top: Path, kept: Path, inside: list[str]) -> None:
    before = Known(json.loads(kept.read_text("utf-8")) if kept.is_file() else {})
    before.move(top)
    files = {
        str(path.relative_to(top)): hashlib.sha256(path.read_bytes()).hexdigest()
        for one in asked_files(top)
        for path in ([top / one] if one.endswith(".py") else sorted((top / one).glob("*.py")))
    }
    anew = [path for path, digest in files.items() if before.digests.get(path) != digest]
    same = files.keys() - anew
    old = {name: seconds for name, seconds in before.seconds.items() if name.partition("::")[0] in same}

    def note(known: Known, read: set[str]) -> None:
        number: dict[str, int] = {}
        lines: dict[str, dict[str, list[int]]] = {}
        for source, wanted in ((known, known.seconds), (before, old)):
            for path, of in source.lines.items():
                for line, names in of.items():
                    several = [number.setdefault(name, len(number)) for name in names if name in wanted]
                    lines.setdefault(path, {}).setdefault(line, []).extend(several)
        texts = {path: (top / path).read_text("utf-8") for path in lines}
        read_ = {path: files[path] for path in read | same}
        told = {"digests": read_, "seconds": old | known.seconds, "names": list(number), "lines": lines, "texts": texts}
        kept.write_text(json.dumps(told), "utf-8")

    learner = _Learner(top, inside, old, note)
    pytest.main([*OPTIONS, *dict.fromkeys([*anew, *PICTURES])], plugins=[learner])  # further pictures leave their file as it was
    note(learner.known(), set(anew))
    os._exit(0)


class _Server:
    """Holds the tests of the project, and for each mistake that it is told forks and asks those of its line."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        gc.unfreeze()  # conftest has frozen them, and what is frozen is not found
        functions: dict[tuple[str, int, str], list[FunctionType]] = {}
        caches = [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper) and "cute_viz" in one.__module__]
        for one in gc.get_objects():
            if type(one) is FunctionType and "cute_viz" in one.__code__.co_filename:
                code = one.__code__
                functions.setdefault((os.path.realpath(code.co_filename), code.co_firstlineno, code.co_name), []).append(one)
        assert len(functions) > 1000, "a mistake is planted in functions"
        gc.collect()
        gc.freeze()
        self.pipe.send(len(items))
        while told := self.pipe.recv():
            path, before, tests, known = told
            change = _changed(functions, path, before, caches)
            self.pipe.send(_forked(lambda: _ask(items, tests, change, known)))  # noqa: B023
        return True


def _changed(
    functions: dict[tuple[str, int, str], list[FunctionType]], path: str, before: str, caches: list[Any]
) -> Callable[[], None]:
    """What gives the functions of a file the code that it has now, and forgets what was worked out with the other."""
    full = os.path.realpath(path)

    def change() -> None:
        for old, new in differing(compile(before, full, "exec"), compile(Path(full).read_text("utf-8"), full, "exec")) or []:
            for function in functions.get((full, old.co_firstlineno, old.co_name), []):
                function.__code__ = new
        for cache in caches:
            cache.cache_clear()

    return change


def differing(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions whose code differs, the outer ones with the inner ones; None where other code than that of functions does.

    >>> one, other = (compile(f"x = 1\\ndef f():\\n    return {n}\\n", "f.py", "exec") for n in (1, 2))
    >>> [pair[0].co_name for pair in differing(one, other)], differing(one, compile("x = 2", "f.py", "exec"))
    (['f'], None)
    """
    out: list[tuple[CodeType, CodeType]] = []
    inner_old, inner_new = ([one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new))
    if not old.co_flags & 0x1 and (  # a module or the body of a class
        old.co_code != new.co_code
        or len(inner_old) != len(inner_new)
        or [one for one in old.co_consts if not isinstance(one, CodeType)]
        != [one for one in new.co_consts if not isinstance(one, CodeType)]
    ):
        return None
    for one, other in zip(inner_old, inner_new, strict=False):
        if one == other:
            continue
        if one.co_flags & 0x1:
            out.append((one, other))
        deeper = differing(one, other)
        if deeper is None:
            return None
        out += deeper
    return out


def _ask(items: dict[str, pytest.Item], tests: list[str], change: Callable[[], None], known: dict[str, float]) -> Verdict:
    from _pytest.runner import runtestprotocol

    change()
    chosen = [items[name] for name in tests if name in items]
    for number, (item, after) in enumerate(zip(chosen, [*chosen[1:], None], strict=False)):
        _patience(known[item.nodeid])
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
            return Verdict(item.nodeid, number + 1)
    return Verdict("", len(chosen))


def _patience(seconds: float) -> None:
    """End this process if a test takes far more processor time than it did."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 5 + 5 * seconds)


class _Chosen:
    """Keeps the chosen tests, in their order, and notes the first that fails."""

    def __init__(self, tests: list[str]) -> None:
        self.tests, self.failed = {name: at for at, name in enumerate(tests)}, ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.tests), key=lambda one: self.tests[one.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (not read)"


def _fresh(tests: list[str]) -> Verdict:
    chosen = _Chosen(tests)
    _patience(2 * MOST)
    files = list(dict.fromkeys(name.split("::")[0] for name in tests))
    status = pytest.main([*OPTIONS, "-x", *files], plugins=[chosen])
    if status not in (0, 1, 5):
        raise RuntimeError(f"pytest ends with status {status}")
    return Verdict(chosen.failed, len(tests))


def _forked(ask: Callable[[], Verdict]) -> Verdict:
    """The verdict of a process of its own, which its own timer of processor time ends."""
    here, there = FORK.Pipe()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        signal.alarm(1800)  # a wait for what never comes
        try:
            there.send(ask())
        except BaseException as error:
            there.send(error if isinstance(error, Exception) else RuntimeError(repr(error)))
        os._exit(0)
    there.close()
    try:
        verdict = here.recv()
    except EOFError:
        verdict = Verdict("", 0, True)
    os.waitpid(child, 0)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what its tests have started
    if isinstance(verdict, Exception):
        raise verdict
    return Verdict(*verdict)


class Asker:
    """Asks the tests of a copied project about one mistake after the other."""

    def __init__(self, top: Path, known: Known) -> None:
        self.top, self.known = top, known
        self.pipe, there = FORK.Pipe()
        files = dict.fromkeys(name.partition("::")[0] for name in known.seconds)
        self.server = FORK.Process(target=_serve, args=(there, list(files)))
        self.server.start()
        self.tests = self.pipe.recv()
        self.clock = int(time.time())
        import matplotlib.figure  # noqa: F401  # what a fork that has read nothing needs, too
        import numpy  # noqa: F401
        import yaml  # noqa: F401

    def about(self, path: str, after: bytes, first: int, last: int, told: Collection[str] = ()) -> Verdict:
        """What the tests of some lines make of a file that has become another. told: tests that come first."""
        file = self.top / path
        before, stat = file.read_bytes(), file.stat()
        self.clock += 10
        try:
            file.write_bytes(after)
            os.utime(file, (self.clock, self.clock))  # no bytecode of the file as it was is of that time
            tests = self.known.tests(path, [(path, line) for line in range(first, last + 1)], told)
            # Without a test, a function is run while modules are read, as what is outside of functions.
            if tests and path.endswith(".py") and differing(*(compile(x, path, "exec") for x in (before, after))) is not None:
                self.pipe.send((path, before.decode("utf-8"), tests, self.known.seconds))
                verdict = cast("Verdict", self.pipe.recv())
                if verdict.by or verdict.endless or not runs_while_read(before.decode("utf-8"), first):
                    return verdict
            return _forked(lambda: _fresh(self.readers(path, first, last)))
        finally:
            file.write_bytes(before)
            os.utime(file, (stat.st_atime, stat.st_mtime))

    def readers(self, path: str, first: int = 0, last: int = 0) -> list[str]:
        """The tests that may notice a mistake outside functions: those that run a line which names what is bound there, or what is
        made of it, or that read the library."""
        if not path.endswith(".py"):
            return [name for name in self.known.seconds if "test_library" in name or "test_tables" in name]
        reads = f"from {path.removesuffix('.py').replace('/', '.')} import"
        tables = {one for name in HEADERS if reads in (self.top / (one := f"tests/{name}.py")).read_text("utf-8")}
        out, files = [name for name in self.known.seconds if name.partition("::")[0] in tables], {path, *PICTURES}
        for name in self.known.tests(path, naming(self.top, self.known.lines, path, first, last)):
            files |= {name.split("::")[0]} if len(files) < FILES + len(PICTURES) else set()
            out += [name] if name.split("::")[0] in files else []
        return out

    def close(self) -> None:
        """End the process that holds the tests."""
        self.pipe.send(None)
        self.server.join(10)


def runs_while_read(source: str, line: int) -> bool:
    """Whether code outside functions names the function of a line: a table that it makes.

    >>> [runs_while_read("def f():\\n    return 1\\n" + end, 2) for end in ("", "X = f()\\n")]
    [False, True]
    """
    body = ast.parse(source).body
    names = {one.name for one in body if isinstance(one, ast.FunctionDef) and one.lineno <= line <= (one.end_lineno or 0)}
    return any(
        isinstance(node, ast.Name) and node.id in names
        for one in body
        if not isinstance(one, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(one)
    )


def naming(top: Path, files: Iterable[str], path: str, first: int, last: int) -> list[tuple[str, int]]:
    """The lines of files that name what some lines of a module bind, or what other modules make of that outside functions."""
    there = {file: top / file for file in {path, *files} if (top / file).is_file()}
    trees = {file: ast.parse(full.read_text("utf-8")) for file, full in there.items()}
    names, out, more = set[str](), list[tuple[str, int]](), True
    while more:
        known = len(names)
        for file, tree in trees.items():
            for one in tree.body:
                inside = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
                here = file == path and one.lineno <= last and first <= (one.end_lineno or 0)
                if here or (names & inside and not isinstance(one, ast.FunctionDef)):
                    bound = [node for node in ast.walk(one) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
                    names |= {one.name} if isinstance(one, ast.FunctionDef | ast.ClassDef) else {node.id for node in bound}
        more = len(names) > known
    for file, tree in trees.items():
        out += [(file, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    return out


def _serve(pipe: Connection, files: list[str]) -> None:
    status = pytest.main([*OPTIONS, *files], plugins=[_Server(pipe)])
    if status not in (0, 5):
        pipe.send(0)
    os._exit(0)
