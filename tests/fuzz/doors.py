"""`python -m tests.fuzz.doors DOOR N SEED`: N requests to a door that stays open, `ask`, `serve` or `mcp`, each judged.

`ask` gives questions of a typed grammar to `answer` in this process and holds the tools' answers to their schemas; `serve` sends
bytes to a server on loopback, most of them no request that a browser would make; `mcp` sends lines to `cute-viz mcp`. A door may
refuse; it may not fail, fall silent, grow, or say it unclearly.
"""

from __future__ import annotations

import copy
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import click

from cute_viz.live.page import presets
from cute_viz.live.question import WAYS
from cute_viz.live.questions import KINDS, answer
from cute_viz.live.tools import TOOLS, schemas
from cute_viz.options import OPTIONS
from tests.fuzz.commands import JUNK, SECONDS, Grammar, TooLong

PATIENCE = 60.0  # seconds that a living door may take
STATUSES = {200, 400, 403, 404, 405, 408, 411, 413, 414, 431, 501, 505}
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    1 << 70,
    1e308,
    "",
    "x",
    [],
    {},
    [[]],
    {"": None},
    ["x"] * 50,
    "\ud800",
    "\0",
    "é" * 5000,
)
OF_TOOLS = (
    "access",
    "type",
    "instruction",
    "operand",
    "store",
    "global",
    "detail",
    "format",
    "read",
    "write",
    "top",
    "arch",
    "wave",
    "shape",
    "where",
)
_PRESETS: list[Any] = [one for one in presets() if len(one["source"]) < 2000]


class Questions(Grammar):
    """Questions, as chance has it."""

    def wild(self, depth: int = 3) -> Any:
        """Any JSON."""
        kind = self.chance.randrange(6 if depth else 3)
        if kind == 4:
            return [self.wild(depth - 1) for _ in range(self.chance.randrange(4))]
        if kind == 5:
            return {str(self.chance.choice(ODD)): self.wild(depth - 1) for _ in range(self.chance.randrange(4))}
        return self.chance.choice(ODD) if kind else self.source()

    def asked(self) -> dict[str, Any]:
        """A question that a page or a client might ask, now and then with a part that none would."""
        given: dict[str, Any] = self.chance.choice(_PRESETS) if self.rarely(2) else {"source": self.source(), "options": {}}
        source, options = given["source"], dict(given.get("options") or {})
        kind = self.one("draw", *KINDS, *(f"tool.{name}" for name in TOOLS))
        if kind in ("banks", "tool.swizzle", "tool.analyze") and not self.rarely(4):
            source = self.one("(8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "(64,64)", "32x32", "64x64", source)
        for _ in range(self.chance.choice((0, 0, 0, 0, 1, 2))):
            at = self.chance.randrange(len(source) + 1)
            source = source[:at] + self.one(*"(),:<>_@/o5-{};", "", "x", "\n", "𝄞") + source[at + self.chance.randrange(3) :]
        for name in self.chance.sample(list(OPTIONS), self.chance.choice((0, 0, 0, 0, 1, 1, 2, 3))):
            options[name] = self.chance.choice((True, False)) if OPTIONS[name].holds == "flag" else self.word(name, None)
        out: dict[str, Any] = {"ask": kind, "source": source, "options": options}
        if self.rarely(6):
            out["let"] = {self.one("M", "N", "a", "?", ""): self.one(self.integer(), self.layout(1), *JUNK)}
        if self.rarely(10):
            out["name"] = self.one("a", "b", "a(1)", "a@2", *JUNK)
        if self.rarely(8):
            out["dialect"] = self.one("auto", "cute", "cpp", "dsl", "dump", "triton", "x")
        out["as"] = self.one(*WAYS, "x")
        if kind == "banks":
            out |= {"access": self.one("ldmatrix", "rows", "column", "column.128", "cp.async", "x"), "step": self.wild(0)}
        if kind.startswith("tool."):
            del out["options"], out["as"]
            for name in self.chance.sample(OF_TOOLS, self.chance.choice((0, 0, 1, 1, 2, 3))):
                out[name] = self.argument(name, kind[5:])
        for key in list(out):
            if self.rarely(60):
                out[key] = self.wild()
        return out

    def argument(self, name: str, tool: str) -> Any:
        """A value for an argument of a tool."""
        schema = schemas()[tool]["input"]["properties"].get(name, {})
        if name == "access" and not self.rarely(4):
            return self.source()
        if name == "format":
            return self.one("text", "svg", "tikz", "json", "html")  # the others take long
        if "enum" in schema and not self.rarely(4):
            return self.chance.choice(schema["enum"])
        if schema.get("type") == "boolean" and not self.rarely(6):
            return self.rarely(2)
        words = {
            "read": ["ldmatrix"],
            "write": ["cp.async"],
            "top": 2,
            "type": "f16",
            "arch": "gfx942",
            "wave": 64,
            "shape": "32x16",
        }
        return words.get(name, self.word(name, None)) if not self.rarely(4) else self.wild(1)


def judged(question: Any, out: Any, source: str) -> str:
    """What is wrong with an answer; "" of a good one."""
    try:
        text = json.dumps(out)
    except (TypeError, ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    if len(text) > 40_000_000:
        return f"{len(text)} characters"
    if not isinstance(out, dict) or not out:
        return "an answer is an object"
    fault = out.get("error")
    if fault is None:
        return ""
    words = " ".join(str(fault.get(key, "")) for key in ("message", "hint", "place"))
    if "mistake in cute-viz" in words or "Traceback" in words or re.search("`[a-z_]+=", words) or "\n" in words:
        return f"says {words[:300]!r}"
    if not fault["message"].strip():
        return "an error without words"
    units = len(source.encode("utf-16-le", "surrogatepass")) // 2
    if (span := fault.get("span")) is not None and not 0 <= span[0] <= span[1] <= units:
        return f"a span {span} of {units}"
    return ""


def ask(count: int, seed: int) -> Iterator[tuple[int, Any, str]]:
    """Questions to `answer`, in this process."""
    import jsonschema  # type: ignore[import-untyped]

    os.environ["CUTE_VIZ_DEBUG"] = "1"  # what nobody expects is raised
    checks = {name: jsonschema.Draft202012Validator(words["output"]) for name, words in schemas().items()}

    def end(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, end)
    for number in range(seed, seed + count):
        grammar = Questions(number)
        question = grammar.wild() if grammar.rarely(200) else grammar.asked()
        source = question.get("source") if isinstance(question, dict) else ""
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            out = answer(copy.deepcopy(question))
            said = judged(question, out, source if isinstance(source, str) else "")
        except TooLong:
            said = f"more than {SECONDS:.0f} s"
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if not said and isinstance(question, dict) and str(question.get("ask")).startswith("tool."):
            tool = checks.get(str(question["ask"])[5:])
            wrong = next(tool.iter_errors(json.loads(json.dumps(out))), None) if tool else None
            said = f"not of the schema: {wrong.message[:200]}" if wrong else ""
        if said:
            yield number, question, said


class Bytes(Questions):
    """Requests as bytes."""

    def request(self, port: int, token: str) -> bytes:
        """A request; every other one is bent."""
        own = f"127.0.0.1:{port}"
        body = json.dumps(
            self.asked() if self.rarely(3) else {"ask": self.one(*KINDS), "source": self.one("(4,8)", "(4", "4:1")}
        ).encode()
        if self.rarely(12):
            body = self.one("", "{", "[" * 5000, "[]", "null", "1", '"x"', "{}").encode()
        lines = {
            "Host": self.one(own, own, own, own, f"localhost:{port}", "evil.example", f"evil.example:{port}", "", "127.0.0.1"),
            "Content-Type": self.one(*["application/json"] * 5, "text/plain", "application/json; charset=utf-8", ""),
            "Content-Length": str(len(body))
            if not self.rarely(8)
            else self.one("-1", "x", "0", "9" * 30, "5000000", "1", "+3", "1_0"),
            "Connection": "close",
            "Cookie": self.one(*[f"cute-viz-{port}={token}"] * 8, "", "=", ";" * 99, f"cute-viz-{port}=x"),
        }
        if self.rarely(4):
            lines[self.one("Origin", "Sec-Fetch-Site")] = self.one(
                f"http://{own}", "null", "http://evil.example", "same-origin", "cross-site"
            )
        if self.rarely(10):
            lines["Transfer-Encoding"] = "chunked"
        method = self.one(*["POST"] * 6, "GET", "GET", "HEAD", "PUT", "OPTIONS", "DELETE", "post", "\x00")
        path = self.one(
            *["/ask"] * 6, "/", "/assets/app.js", "/assets/../server.py", "/file", "//", "/ask?x=1", "/%2e%2e/etc/passwd", "/" * 999
        )
        if method != "POST":
            body = b""
            path = self.one("/", "/assets/app.js", path)
        head = f"{method} {path} HTTP/1.{self.one('1', '1', '1', '0', '9')}\r\n"
        data = (head + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n").encode(
            "latin-1", "replace"
        ) + body
        return self.bent(data)

    def bent(self, data: bytes) -> bytes:
        """Bytes of which some are others, or missing."""
        for _ in range(self.chance.choice((0, 0, 0, 1, 3))):
            at = self.chance.randrange(len(data))
            junk = self.chance.choice((b"", b"\r\n", b"\0", b":", b"\xff", b"A" * 70_000))
            data = data[:at] + junk + data[at + self.chance.randrange(4) :]
        return data[: self.chance.randrange(len(data))] if self.rarely(10) else data


def serve(count: int, seed: int) -> Iterator[tuple[int, Any, str]]:
    """Requests to a server, one connection each; the other end says that nothing more will come."""
    from cute_viz.live.pool import Pool
    from cute_viz.live.server import Server

    server = Server(pool=Pool(1))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    before = threading.active_count()
    try:
        for number in range(seed, seed + count):
            data = Bytes(number).request(port, server.token)
            said = _sent(port, data)
            if not said and number % 500 == 499:
                time.sleep(0.2)
                lines = (f"Host: 127.0.0.1:{port}", "Content-Type: application/json", "Content-Length: 18", "Connection: close")
                lines += (f"Cookie: cute-viz-{port}={server.token}",)
                own = "\r\n".join(["POST /ask HTTP/1.1", *lines, "", ""])
                said = _sent(port, own.encode() + b'{"source":"(2,2)"}', 200)
                if threading.active_count() > before + 20:
                    said = f"{threading.active_count()} threads"
            if said:
                yield number, data[:2000], said
    finally:
        server.shutdown()
        server.close()


def _sent(port: int, data: bytes, status: int | None = None) -> str:
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as line:
        out = b""
        try:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            while more := line.recv(1 << 16):
                out += more
        except TimeoutError:
            return "no answer"
        except OSError:
            pass  # what a server does not read to its end
    if not out:
        return "" if status is None else "no answer"
    if not out.startswith(b"HTTP/1.1 "):
        bare = (
            b"<!DOCTYPE ",
            b"this server is not",
            b"there is nothing here",
            b"this page opens with",
        )  # of HTTP 0.9, which has no head
        return "" if out.lstrip().startswith(bare) else f"answers {out[:80]!r}"
    head, _, body = out.partition(b"\r\n\r\n")
    code = int(head[9:12])
    if code not in STATUSES or (status is not None and code != status):
        return f"status {code}"
    if b"Traceback" in out or b"mistake in cute-viz" in out:
        return f"says {out[:300]!r}"
    length = re.search(rb"(?im)^Content-Length: (\d+)", head)
    if not data.startswith(b"HEAD") and b"\r\n\r\nHTTP/1.1" not in out and length and body and len(body) < int(length[1]):
        return f"{len(body)} of {int(length[1])} bytes"
    return ""


def mcp(count: int, seed: int) -> Iterator[tuple[int, Any, str]]:
    """Lines to `cute-viz mcp`; every request with a name of its own has one answer."""
    command = [sys.executable, "-m", "cute_viz", "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as running:
        assert running.stdin
        assert running.stdout
        assert running.stderr
        lines: queue.Queue[str] = queue.Queue()
        errors: list[str] = []
        for stream, put in ((running.stdout, lines.put), (running.stderr, errors.append)):
            threading.Thread(target=_drain, args=(stream, put), daemon=True).start()

        def send(message: Any) -> None:
            running.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")  # type: ignore[union-attr]
            running.stdin.flush()  # type: ignore[union-attr]

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
        send({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})
        said = _answered(lines, {"hello"}, {})
        send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        try:
            at = seed
            while at < seed + count and not said:
                some = range(at, min(at + 50, seed + count))
                sent = {str(number): Lines(number).message(number) for number in some}
                for message in sent.values():
                    send(message)
                send({"jsonrpc": "2.0", "id": f"ping{at}", "method": "ping"})
                wanted = {name for name, message in sent.items() if _is_request(message, name)}
                if said := _answered(lines, {f"ping{at}", *wanted}, sent):
                    yield at, said[:100], said
                if errors:
                    yield at, list(some), f"on standard error: {''.join(errors)[:1500]}"
                    errors.clear()
                if running.poll() is not None:
                    yield at, list(sent.values()), f"has ended with {running.returncode}"
                    return
                at = some[-1] + 1
        finally:
            running.stdin.close()
            running.wait(PATIENCE)


def _is_request(message: Any, name: str) -> bool:
    """Whether a line is what the protocol calls a request; what the SDK drops in silence is not ours to answer."""
    if not isinstance(message, dict) or message.get("id") != name or message.get("jsonrpc") != "2.0":
        return False
    if re.search(r"\\ud[89a-f]", json.dumps(message)):  # half a letter
        return False
    params = message.get("params")
    if not isinstance(params, dict) or set(params) - {"name", "arguments"} or not isinstance(params.get("name"), str):
        return False
    return message.get("method") == "tools/call" and isinstance(params.get("arguments"), dict)


class Lines(Questions):
    """Messages of the protocol."""

    def message(self, number: int) -> Any:
        """A line: a call of a tool most of the time, else what no client sends."""
        name = self.one(*TOOLS)
        words = self.asked() if self.rarely(3) else {"source": self.one("(4,8):(8,1)", "(4", "complement(4:2, 24)", "4:1 o 2:1")}
        words.pop("ask", None)
        if not self.rarely(5):
            words = {key: value for key, value in words.items() if key in schemas()[name]["input"]["properties"]}
        message: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": str(number),
            "method": "tools/call",
            "params": {"name": name, "arguments": words},
        }
        kind = self.chance.randrange(14)
        if kind == 0:
            message["method"] = self.one(
                "tools/list", "ping", "resources/list", "prompts/get", "x", "", "notifications/cancelled", "initialize"
            )
        elif kind == 1:
            message[self.one("jsonrpc", "id", "method", "params")] = self.wild()
        elif kind == 2:
            message["params"][self.one("name", "arguments", "_meta", "cursor")] = self.wild()
        elif kind == 3:
            del message[self.one("jsonrpc", "id", "method", "params")]
        elif kind == 4:
            text = json.dumps(message)
            at = self.chance.randrange(len(text))
            return (text[:at] + self.one("", "{", '"', "\x01", "}", "[" * 2000) + text[at + self.chance.randrange(3) :]).replace(
                "\n", " "
            )
        elif kind == 5:
            return self.one(
                "", " ", "null", "[]", "{}", "1", '"x"', "[" * 3000, "é", "\x00", '{"jsonrpc":"2.0"}', json.dumps([message])
            )
        return message


def _drain(stream: Any, put: Callable[[str], None]) -> None:
    for line in stream:
        put(line)


def _answered(lines: queue.Queue[str], wanted: set[str], sent: dict[str, Any]) -> str:
    """What is wrong with the answers up to the last that is wanted."""
    end = time.monotonic() + PATIENCE
    while wanted:
        try:
            line = lines.get(timeout=max(0.01, end - time.monotonic()))
        except queue.Empty:
            return f"no answer to {sorted(wanted)[:5]}: {[sent.get(name) for name in sorted(wanted)[:2]]}"
        try:
            out = json.loads(line)
        except ValueError:
            return f"not JSON: {line[:200]!r}"
        name = out.get("id") if isinstance(out, dict) else None
        if isinstance(name, str):
            wanted.discard(name)
        text = json.dumps(out)
        if "mistake in cute-viz" in text or "Traceback" in text or out.get("error", {}).get("code") == -32603:
            return f"says {text[:600]} of {sent.get(str(name))}"
    return ""


DOORS = {"ask": ask, "serve": serve, "mcp": mcp}


@click.command()
@click.argument("door", type=click.Choice(list(DOORS)))
@click.argument("count", type=click.IntRange(1))
@click.argument("seed", type=click.IntRange(0))
def main(door: str, count: int, seed: int) -> None:
    """Fuzz, and print what is found."""
    found, since = 0, time.monotonic()
    for number, what, said in DOORS[door](count, seed):
        found += 1
        words = repr(what) if isinstance(what, bytes) else json.dumps(what)[:3000]
        click.echo(f"{number}: {said}\n    {words}")
    click.echo(f"{count} requests to {door} in {time.monotonic() - since:.0f} s, {found} findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
