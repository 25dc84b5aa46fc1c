"""The page's server, its processes and its questions, without a browser: who may ask, what is limited, what is answered."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import urlsafe_b64decode
from collections import Counter
from pathlib import Path
from zlib import decompress

import pytest

from cute_viz import figure, render
from cute_viz.engine import Request
from cute_viz.engine import ask as asked
from cute_viz.engine.kernel_picture import picture_of
from cute_viz.live import guard
from cute_viz.live.follow import Followed
from cute_viz.live.page import assets, document, fragment, settings
from cute_viz.live.pool import Cancelled, Pool
from cute_viz.live.questions import answer
from cute_viz.live.server import Server
from cute_viz.renderers.inline import inlined

TV = "((16,8),8):((64,1),8)"
SLOW = {"source": "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (512,512,64))", "options": {"max_cells": "900000"}}


@pytest.fixture(scope="module")
def server():
    with Pool(2) as pool:
        running = Server(pool=pool)
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield running
        running.shutdown()
        running.close()


def send(server: Server, method: str = "POST", path: str = "/ask", body: bytes | None = None, **headers: str):
    """Status, headers and body of a request, which has the cookie of the page if nothing else is said."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    given = {"Content-Type": "application/json"} if method == "POST" else {}
    given["Cookie"] = cookie_of(server)
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, given)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, response.headers, data


def cookie_of(server: Server) -> str:
    return f"theme=dark; cute-viz-{server.server_address[1]}={server.token}"


def ask(server: Server, **question):
    status, _, data = send(server, body=json.dumps(question).encode())
    assert status == 200, data
    return json.loads(data)


def test_a_question_is_answered_with_the_bytes_of_render(server):
    out = ask(server, source=TV, options={"tile": "8x128"})
    assert out["svg"] == inlined(render(figure(TV, tile="8x128"), "svg", fragment=True).decode())
    assert out["title"] == figure(TV, tile="8x128").title
    assert len(out["panels"][0]["thread"]) == 1024


@pytest.mark.parametrize(
    ("source", "span", "fixed"),
    [
        ("(4,8", [0, 1], "(4,8)"),
        ("compositon((4,8),(2,2))", [0, 23], "composition((4,8),(2,2))"),
        ("𝄞 = (4,8); siz(𝄞)", None, None),
        ("SM80_16x8x16_F32F16F16F32_T", [0, 27], "SM80_16x8x16_F32F16F16F32_TN"),
        ("", None, "(4,8):(8,1)"),
        ("(4,8):(8,1) (2,2)", None, None),
    ],
)
def test_what_is_wrong_has_its_place_and_its_cure(source, span, fixed):
    error = answer({"source": source})["error"]
    assert error["message"]
    if span:
        assert error["span"] == span
    if fixed is not None:
        units = source.encode("utf-16-le")
        start, end = error["fix"]["span"]
        put = units[: 2 * start] + error["fix"]["text"].encode("utf-16-le") + units[2 * end :]
        assert put.decode("utf-16-le") == fixed
        assert "error" not in answer({"source": fixed})


def test_a_page_is_laid_out_once_for_its_picture_and_its_words(monkeypatch):
    from cute_viz.renderers import page

    laid_out, page_of = [], page._page_of
    monkeypatch.setattr(page, "_page_of", lambda *given: laid_out.append(given) or page_of(*given))
    options = {"target": "readme", "width": 700}
    out = answer({"ask": "draw", "source": "SM80_16x8x16_F32F16F16F32_TN", "options": options})
    assert out["description"].startswith(out["title"])
    assert len(laid_out) == 1


def test_a_missing_value_is_asked_for():
    for source in ("make_layout(make_shape(M,8))", "auto l = make_layout(make_shape(M, _8{}), LayoutRight{});"):
        error = answer({"source": source})["error"]
        assert error["fix"] == {"option": "let", "value": "M=512"}
        assert "error" not in answer({"source": source, "let": {"M": "512"}})


@pytest.mark.parametrize(
    "question",
    [
        None, [], 3, "x", {"ask": 3}, {"ask": "nothing"}, {"source": 5}, {"options": 5}, {"options": {"a": []}}, {"let": {"M": {}}},
        {"source": "(4,8)", "name": 4}, {"source": "(4,8)", "dialect": []}, {"source": "(4,8)", "dialect": "perl"},
        {"source": "(4,8)", "options": {"colour": "red"}}, {"source": "(" * 5000}, {"source": "x" * (1 << 21)},
        {"source": "(4,8)", "options": {"view": "x" * 9999}}, {"ask": "copy", "source": "(4,8)", "as": "x"},
        {"ask": "copy", "source": "(4,8)", "as": []}, {"source": "gl.TensorMemoryLayout(64, 64), 1, two_ctas=True)"},
        {"source": "gl.DistributedLinearLayout(1, 2, 3)"}, {"source": "(4,8)", "options": {"shape": []}},
        {"source": "1", "shape": [2]},
        {"ask": "banks", "source": "(4,8", "access": []},
        {"ask": "explain", "source": "(4,8"},
        {"source": "(1000000000000,1000000)"}, {"source": "/etc/passwd"},
        {"source": "../layouts/specs/ampere_gemm.yaml"}, {"source": "\ud800"}, {"source": "\0"},
    ],
)  # fmt: skip
def test_no_question_breaks_it(question):
    error = answer(question)["error"]
    assert error["message"]
    assert "mistake in cute-viz" not in error["message"]
    assert json.dumps(error)


def test_no_question_names_a_file(server, tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text("using A = Layout<Shape<_4,_8>>;")
    for source in (str(path), path.as_uri(), "pyproject.toml"):
        assert "svg" not in ask(server, source=source)
        assert "svg" not in ask(server, source="(4,8)", options={"thread": "0", "tensor": source})
    assert "svg" not in ask(server, source="(4,8", file=True)  # nothing is followed
    for path_ in (
        "/assets/../page.py",
        "/assets/page.html",
        "/../../etc/passwd",
        "/assets/",
        "/assets/%2e%2e/page.py",
        "/file",
    ):
        assert send(server, "GET", path_)[0] == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:{port}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Content-Type": "text/plain"}, 403),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 403),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Content-Length": "99999999999999"}, 413),
        ({"Content-Length": "3000000"}, 413),
        ({"Content-Length": "-1"}, 411),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_who_may_ask(server, headers, status):
    port = str(server.server_address[1])
    given = {name: value.replace("{port}", port) for name, value in headers.items()}
    assert send(server, body=b'{"source":"(4,8)"}', **{name.replace("-", "_"): value for name, value in given.items()})[0] == status
    if "Content-Length" not in headers and "Transfer-Encoding" not in headers and "Content-Type" not in headers:
        page = {name.replace("-", "_"): value for name, value in given.items()}
        assert send(server, "GET", "/", **page)[0] == status
        if "Sec-Fetch-Site" in headers:  # a link from elsewhere may lead here, a frame, a script or an image may not
            visit = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
            assert send(server, "GET", "/", **page, **visit)[0] == 200
            assert send(server, "GET", "/assets/app.js", **page, **visit)[0] == status
            assert send(server, "GET", "/", **page, **{**visit, "Sec_Fetch_Dest": "iframe"})[0] == status


def test_nothing_is_answered_without_the_token(server):
    """Whoever else is on the machine reaches the port."""
    port = server.server_address[1]
    wrong = ("", "a=b", f"cute-viz-{port}=", f"cute-viz-{port}={server.token}x", f"cute-viz-{port + 1}={server.token}", "é=é")
    for cookie in wrong:
        for method, path in (
            ("GET", "/"),
            ("GET", "/?token=x"),
            ("GET", "/assets/app.js"),
            ("GET", "/file"),
            ("POST", "/ask"),
            ("GET", "/x"),
        ):
            status, _, data = send(server, method, path, b"{}" if method == "POST" else None, Cookie=cookie.encode())
            assert (status, b"with a token" in data) == (403, True), (cookie, method, path)
    status, headers, _ = send(server, "GET", f"/?token={server.token}", Cookie="")
    name, _, rest = headers["Set-Cookie"].partition("=")
    value, *marks = rest.split("; ")
    assert (status, name, value, set(marks)) == (200, f"cute-viz-{port}", server.token, {"Path=/", "HttpOnly", "SameSite=Strict"})
    assert server.address == f"http://127.0.0.1:{port}/?token={server.token}"
    assert len(server.token) >= 32
    assert send(server, "GET", "/", Cookie=f"{name}={value}")[0] == 200


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_another_user_who_has_seen_the_token_gets_nothing(server, monkeypatch):
    """As `ps` shows the words of a browser to everybody."""
    own, path = os.geteuid(), f"/?token={server.token}"
    assert send(server, "GET", path, Cookie="")[0] == 200
    monkeypatch.setattr(os, "geteuid", lambda: own + 1000)  # as if the server were somebody else's
    as_user = ctypes.CDLL(None).setfsuid  # whose sockets this thread makes; root is asked for nothing
    as_user(own or 65534)
    try:
        status, _, data = send(server, "GET", path, Cookie="")
    finally:
        as_user(own)
    assert (status, data.decode()) == (403, guard.ANOTHER)


@pytest.mark.parametrize(("client", "host"), [("127.0.0.1", "127.0.0.1"), ("127.9.8.7", "127.0.0.1"), ("::1", "::1")])
def test_whose_a_connection_is(client, host, tmp_path, monkeypatch):
    """In the tables of Linux, whose words are those of RFC 793's ends."""
    little = sys.byteorder == "little"
    ends = {"127.0.0.1": "0100007F", "127.9.8.7": "0708097F", "::1": "0" * 24 + "01000000"}
    if not little:
        ends = {name: bytes.fromhex(end)[::-1].hex() for name, end in ends.items()}  # of one word
    rows = [
        f"{n}: {a}:{p:04X} {b}:{q:04X} 01 0:0 00:0 0 {uid} 0 1"
        for n, (a, p, b, q, uid) in enumerate(
            (
                (ends[host], 8080, ends[client], 5000, 1001),  # the server's own end
                (ends[client], 5000, ends[host], 8080, 1002),
                (ends[client], 5001, ends[host], 8080, 1001),
                (ends[client], 5002, ends[host], 8080, 0),
                (ends[client], 5003, ends[host], 8081, 1002),
            )
        )
    ]
    (tmp_path / ("tcp6" if ":" in host else "tcp")).write_text("\n".join(["sl local_address rem_address st ...", *rows, ""]))
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    said = [guard.is_of_another((client, port), (host, 8080), str(tmp_path)) for port in range(5000, 5005)]
    assert said == [True, False, False, False, False]
    monkeypatch.setattr(os, "geteuid", lambda: 0)  # as in a container
    assert not guard.is_of_another((client, 5000), (host, 8080), str(tmp_path))


def test_every_answer_says_that_nobody_else_may_read_it(server, tmp_path):
    raw = [(method, path) for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS", "x") for path in ("/", "/nothing", "/ask")]
    for method, path in raw:
        _, headers, _ = send(server, method, path)
        assert (headers["X-Content-Type-Options"], headers["Cross-Origin-Resource-Policy"]) == ("nosniff", "same-origin"), (
            method,
            path,
        )
    (tmp_path / "x.cu").write_text("(4,8)")
    server.followed = Followed(str(tmp_path / "x.cu"))
    try:
        for path in ("/", "/assets/app.js", "/file", "/nothing"):  # as bytes: clients of HTTP read no body of HEAD
            with socket.create_connection(server.server_address[:2], timeout=30) as line:
                host = f"127.0.0.1:{server.server_address[1]}\r\nCookie: {cookie_of(server)}\r\nConnection: close"
                line.sendall(f"HEAD {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                head = line.makefile("rb").read()
            assert head.startswith(b"HTTP/1.1 404" if path == "/nothing" else b"HTTP/1.1 200")
            assert b"nosniff" in head
            assert head.endswith(b"\r\n\r\n")
    finally:
        server.followed.close()
        server.followed = None


def test_connections_that_ask_nothing_silence_nobody(server, monkeypatch):
    """Silent ones, and those that send a byte now and then."""
    silent = [socket.create_connection(server.server_address[:2], timeout=30) for _ in range(230)]
    for line in silent[::2]:
        with contextlib.suppress(OSError):
            line.sendall(b"GET / HT")
    assert ask(server, source="(4,8)")["kind"] == "grid"
    for line in silent:
        line.close()
    monkeypatch.setattr("cute_viz.live.server.HALF_OPEN", 0.2)
    with socket.create_connection(server.server_address[:2], timeout=20) as slow:  # less than a request may take
        slow.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):  # the end, or that nobody listens any more
            assert slow.recv(100) == b""


def test_bodies_that_are_no_questions(server):
    for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"source": NaN'):
        assert send(server, body=body)[0] == 400
    with socket.create_connection(server.server_address[:2], timeout=30) as line:
        host = f"127.0.0.1:{server.server_address[1]}\r\nCookie: {cookie_of(server)}\r\nContent-Type: application/json"
        line.sendall(f"POST /ask HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{{}}".encode())
        assert line.makefile("rb").read(12) == b"HTTP/1.1 411"
    assert send(server, path="/elsewhere", body=b"{}")[0] == 404
    assert send(server, "GET", "/")[0] == 200


def test_the_page_allows_no_inline_script(server):
    status, headers, data = send(server, "GET", "/")
    rules = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert status == 200
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    scripts = re.findall(r"<script[^>]*>", data.decode())
    assert all('type="application/json"' in tag or 'src="assets/' in tag for tag in scripts)
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", data.decode(), flags=re.S))


def test_what_the_page_is_told_cannot_break_out():
    page = document({"first": "</script><script>alert(1)</script><!--"}, drawn="<svg></svg>")
    assert page.count("<script") == 2
    assert "{{" not in document(settings())


def test_every_module_of_the_page_is_served(server):
    for name, data in assets().items():
        status, headers, served = send(server, "GET", f"/assets/{name}")
        assert (status, served) == (200, data)
        for other in re.findall(rb'(?:from|import)\s*"\./([\w.]+)"', data):
            assert other.decode() in assets()
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_newer_question_of_the_same_page_ends_the_older(server):
    outcome: list[dict[str, bool]] = []
    older = threading.Thread(target=lambda: outcome.append(ask(server, **SLOW, page="p")))
    older.start()
    time.sleep(0.3)
    assert not outcome
    assert ask(server, source="(4,8)", page="p")["kind"] == "grid"
    assert ask(server, source="(4,8)", page="another")["kind"] == "grid"
    older.join(10)
    assert outcome == [{"cancelled": True}]  # no error for the console of a browser
    assert ask(server, source="(4,8)", page="p")["kind"] == "grid"


def test_a_name_on_a_line_is_what_it_means_there():
    """As the host has it that launches the kernel; a variable that has changed has no value, and a member is no variable."""
    text = """struct Held { float A; };
template <class L, class C> __global__ void k(Held held, L sA_layout, C copy_a) {
  int n = 0;
  Tensor sA = make_tensor(make_smem_ptr(&held.A), sA_layout);
  for (int i = 0; i < 4; ++i) {
    copy(copy_a, sA(n), sA(n));
    n = f(n);
  }
}
void other() { auto sA_layout = Layout<_4>{}; auto a = sA_layout; }
void launch(Held held) {
  auto a = make_layout(make_shape(Int<8>{}, Int<16>{}), make_stride(Int<16>{}, Int<1>{}));
  auto c = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4,_8>>{});
  k<<<1, 32>>>(held, a, c);
}
"""

    def value(name: str) -> str:
        out = answer({"ask": "tool.eval", "source": text, "name": name})
        return out.get("value") or out["error"]["message"]

    layout, tiled = value("launch::a"), value("launch::c")
    assert layout == "(_8,_16):(_16,_1)"
    assert [value(f"sA_layout@{line}") for line in (2, 4, 10)] == [layout, layout, "_4:_1"]
    assert [value(f"copy_a@{line}") for line in (2, 6)] == [tiled, tiled]
    assert value("L@2") == layout
    assert (value("n@3"), value("n@6")) == ("0", "the value of 'n' depends on how the program runs")
    assert value("A@4") == "nothing here is named 'A@4'"
    assert value("copy_a@3") == "nothing here is named 'copy_a@3'"


def test_questions_that_arrive_in_another_order(server):
    assert ask(server, source="(4,8)", page="q", number=7)["kind"] == "grid"
    assert ask(server, source="(4,8)", page="q", number=6) == {"cancelled": True}
    assert ask(server, source="(4,8)", page="q", number=8)["kind"] == "grid"


def test_time_and_memory_of_a_question_are_limited():
    with Pool(1, seconds=0.6) as pool:
        source = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (1024,1024,64))"
        out = json.loads(pool.ask({"source": source, "options": {"max_cells": "9000000"}}))
        assert "0.6 seconds" in out["error"]["message"]
        (pid,) = pool.processes
        os.kill(pid, signal.SIGKILL)
        assert "has ended" in json.loads(pool.ask({"source": "(4,8)"}))["error"]["message"]
        assert json.loads(pool.ask({"source": "(4,8)"}))["kind"] == "grid"
    with pytest.raises(Cancelled):
        pool.ask({"source": "(4,8)"})


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited through setrlimit")
def test_a_question_that_wants_too_much_memory_is_an_error():
    with Pool(1, seconds=120, memory=320 << 20) as pool:
        question = {
            "source": "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (1024,1024,64))",
            "options": {"max_cells": "9000000"},
        }
        assert "memory" in json.loads(pool.ask(question))["error"]["message"]
        assert json.loads(pool.ask({"source": "(4,8)"}))["kind"] == "grid"


def test_many_questions_lose_nothing(server):
    """Four pages at once, over connections that stay; a minute of it is the benchmark's business."""
    failed: list[object] = []

    def page(name: str) -> None:
        connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
        for n in range(1, 51):
            body = json.dumps({"source": f"({n},2)", "page": name})
            connection.request("POST", "/ask", body, {"Content-Type": "application/json", "Cookie": cookie_of(server)})
            out = json.loads(connection.getresponse().read())
            if out.get("facts", {}).get("size") != 2 * n:
                failed.append(out)
        connection.close()

    threads = [threading.Thread(target=page, args=(f"page {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_the_address_of_a_state():
    state = {"source": "(4,8) × 𝄞", "options": {"view": "grid"}}
    packed = fragment(state)
    assert packed.startswith("#z")
    assert json.loads(decompress(urlsafe_b64decode(packed[2:] + "=="), -15)) == state


def test_a_file_is_followed(tmp_path: Path):
    path = tmp_path / "x.cu"
    path.write_text("(4,8)")
    followed = Followed(str(path))
    assert followed.state.text == "(4,8)"
    new = tmp_path / "new"
    new.write_text("(2,2)")
    new.replace(path)  # as editors save
    assert followed.after(1, 5).text == "(2,2)"
    path.unlink()
    assert "x.cu" in followed.after(2, 5).error
    path.write_bytes(b"(4,\xff8)")
    assert followed.after(3, 5).error
    path.unlink()
    os.mkfifo(path)  # nobody writes to it
    assert "not a regular file" in followed.after(4, 5).error
    path.unlink()
    path.symlink_to("/dev/zero")
    path.unlink()
    path.write_text("(8,8)")
    until = time.monotonic() + 10
    while followed.state.text != "(8,8)" and time.monotonic() < until:
        followed.after(followed.state.version, 1)
    assert followed.state.text == "(8,8)"
    followed.close()


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("command", "cute-viz render '(_4,_8):(_8,_1)' --view grid"),
        ("cpp", "Layout<Shape<_4,_8>,Stride<_8,_1>>{}"),
        ("dsl", "cute.make_layout((4, 8), stride=(8, 1))"),
        ("cute", "(_4,_8):(_8,_1)"),
        ("markdown", "<!-- cute-viz: (_4,_8):(_8,_1) | view=grid -->\n<!-- /cute-viz -->"),
    ],
)
def test_copies(way, words):
    assert answer({"ask": "copy", "source": "(_4,_8):(_8,_1)", "options": {"view": "grid"}, "as": way}) == {"text": words}


def test_copied_pictures_are_those_of_render():
    for way, format_ in (("svg", "svg"), ("json", "json")):
        out = answer({"ask": "copy", "source": "(4,8)", "as": way})["text"]
        assert out == render("(4,8)", format_).decode()
    assert answer({"ask": "copy", "source": "(4,8)", "as": "latex"})["text"] == render("(4,8)", "tikz", fragment=True).decode()


def test_every_preset_draws():
    """The examples of the page, and of the gallery's specs every fifth, whose pictures the gallery's own test holds."""
    from cute_viz.live.page import presets

    own = json.loads((Path(presets.__wrapped__.__code__.co_filename).parent / "assets" / "presets.json").read_text())
    count = sum(map(len, own.values()))
    assert {"Layouts", "Threads and values", "Algebra", "Swizzles and banks", "Copies", "MMA", "TMA and tensor memory"} <= set(own)
    for preset in [*presets()[:count], *presets()[count::5]]:
        out = answer({"source": preset["source"], "options": preset.get("options", {})})
        assert "svg" in out, (preset["title"], out["error"])


def test_what_a_source_leaves_open():
    """The shape of an encoding and the machine of a name are options like others: one click, a field, words of the command line."""
    blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"
    assert answer({"source": blocked})["error"]["fix"] == {"option": "shape", "value": "64x64"}
    out = answer({"source": blocked, "options": {"shape": "32x16"}})
    assert (out["facts"]["threads"], "shape" in out["uses"]) == (128, True)
    name = "v_wmma_f32_16x16x16_f16"
    fix = answer({"source": name})["error"]["fix"]
    assert fix == {"option": "arch", "value": "gfx1200"}
    said = {"arch": fix["value"], "wave": "64"}
    assert answer({"source": name, "options": said})["facts"]["threads"] == 64
    command = answer({"ask": "copy", "as": "command", "source": name, "options": said})["text"]
    assert command == f"cute-viz render {name} --arch gfx1200 --wave 64"
    assert "no wave" in answer({"ask": "copy", "as": "markdown", "source": "(4,8)", "options": {"wave": 64}})["error"]["message"]
    assert "invalid value" in answer({"source": name, "options": {"wave": "many"}})["error"]["message"]


def test_banks_agree_with_the_search():
    """What the page counts on a layout is what `cute-viz swizzle` counts of it."""
    from cute_viz.analysis.patterns import PATTERNS
    from cute_viz.analysis.swizzles import search

    for rows, cols, bits in ((8, 64, 16), (32, 32, 32), (16, 128, 8)):
        for access in PATTERNS:
            found = {candidate.name: candidate.wavefronts for candidate in search(rows, cols, bits, [access])}
            for name in ("plain", "Sw<1,3,3>", "Sw<3,4,3>"):
                if name not in found:
                    continue
                source = f"({rows},{cols}):({cols},1)" if name == "plain" else f"{name} o 0 o ({rows},{cols}):({cols},1)"
                out = answer({"ask": "banks", "source": source, "access": access, "options": {"type": str(bits)}})
                assert out["wavefronts"] == found[name], (source, access)
                assert out["best"]["wavefronts"] == min(cost for name, cost in found.items() if "padding" not in name)
    assert "best" not in answer({"ask": "banks", "source": "():()", "access": "rows"})


@pytest.mark.parametrize(
    ("source", "access", "options", "said"),
    [
        ("(4,8,2)", "ldmatrix", {}, "3 modes"),
        ("(4,8):(1@0,1@1)", "ldmatrix", {}, "1@0"),
        ("(8,64):(64,1)", "nonsense", {}, "there is no access 'nonsense'"),
        ("(16,16):(16,1)", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})", {}, "operand"),
        ("SM75_U32x1_LDSM_N", "ldmatrix", {}, "is not a layout"),
        ("(8,64):(64,1)", [], {"type": "256"}, "256 bits"),
    ],
)
def test_where_there_is_no_such_access_the_object_is_drawn(source, access, options, said):
    out = answer({"ask": "banks", "source": source, "access": access, "options": options})
    assert said in out["said"]
    assert "wavefronts" not in out
    assert out["svg"] == answer({"source": source})["svg"]


def test_an_access_of_ones_own_is_drawn_and_counted():
    """By a TV layout and a TiledCopy, as `analyze --access` counts it; by TMA drawn only, as nobody knows its count."""
    from cute_viz import figure, parse
    from cute_viz.engine.access import Accessor, report_of

    for source, access in (("(16,8):(1,16)", "((4,8),4):((32,1),8)"), ("(32,8):(8,1)", "(32,8):(1,32)")):
        out = answer({"ask": "banks", "source": source, "access": access, "options": {"type": "f16"}})
        told = report_of(parse(source), Accessor(parse(access), "f16"))
        assert (out["wavefronts"], out["ideal"]) == (told["wavefronts"], told["ideal"])
        assert out["title"] == figure(parse(source), view="access", by=access, type="f16").title
    copy = "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, Layout<Shape<_8,_4>>{}, Layout<Shape<_1,_8>>{})"
    out = answer({"ask": "banks", "source": "(8,32):(32,1)", "access": copy})
    assert (out["instruction"], out["assumed"]) == ("ld.128", False)
    same = answer({"ask": "banks", "source": copy, "access": "(8,32):(32,1)"})  # the other way round
    assert {**same, "access": copy, "tensor": ""} == {**out, "tensor": ""}
    assert answer({"ask": "banks", "source": copy})["tensor"] == "(8,32):(32,1)"
    column = answer({"ask": "banks", "source": copy, "access": "(8,32):(1,8)"})
    assert "16 contiguous bytes" in column["said"]
    out = answer({"ask": "banks", "source": "(8,64):(64,1)", "access": "ldmatrix", "step": 1})
    assert (out["step"], out["warps"]) == (1, [32, 32])
    assert "T0" in out["svg"]
    far = answer({"ask": "banks", "source": "(32,8):(8,1)", "access": "(32,8):(1,32)", "options": {"type": "f32"}, "global": True})
    assert far["said"] == report_of(parse("(32,8):(8,1)"), Accessor(parse("(32,8):(1,32)"), "f32", sectors=True))["summary"]
    assert "sector" in far["said"]
    assert "shared memory" in answer({"ask": "banks", "source": "(8,64):(64,1)", "access": "ldmatrix", "global": True})["said"]
    tma = answer({"ask": "banks", "source": "(8,64):(64,1)", "access": "tma"})
    assert "counts no wavefronts" in tma["said"]


def test_steps_of_an_operation():
    out = answer({"ask": "explain", "source": "complement(4:2, 24)"})
    assert [step["number"] for step in out["steps"]][-1] == len({step["number"] for step in out["steps"]} - {None})
    assert out["steps"][-1]["svg"].startswith("<svg")
    assert answer({"ask": "explain", "source": "Sw<3,3,3> o 0 o (8,64):(64,1)"})["bits"].startswith("<svg")


def test_serve_prints_its_address_and_ends(tmp_path: Path):
    command = [sys.executable, "-m", "cute_viz", "serve", "--port", "0", "--no-browser", "Sw<3,3,3>"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert running.stderr is not None
        line = running.stderr.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)(#z\S+)\n", line)
        assert match, line
        assert match[3] == fragment({"source": "Sw<3,3,3>"})
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=30)
        cookie = f"cute-viz-{match[1]}={match[2]}"
        connection.request("POST", "/ask", '{"source":"(4,8)"}', {"Content-Type": "application/json", "Cookie": cookie})
        assert json.loads(connection.getresponse().read())["kind"] == "grid"
        connection.close()
    finally:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (0, "", "")


def test_serve_begins_with_the_values_that_are_given(tmp_path: Path):
    (tmp_path / "k.cu").write_text("void f(int M) {\n  auto a = make_layout(make_shape(M, 8));\n  auto b = make_layout(4);\n}\n")
    command = [sys.executable, "-m", "cute_viz", "serve", "--no-browser", "k.cu", "--let", "M=16", "--name", "a"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert running.stderr is not None
        line = running.stderr.readline()
        assert line.strip().endswith(fragment({"let": "M=16", "name": "a", "file": True})), line
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=20)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--let", "M=16"], 2, "need a source"),
        (["no/such.cu"], 1, "no/such.cu"),
        (["--port", "99999"], 2, "99999"),
        (["-"], 2, "standard input"),
        (["--host", "no.such.host.invalid"], 1, "cannot listen"),
    ],
)
def test_serve_refuses(words, status, said, capsys):
    from cute_viz.cli import main

    with pytest.raises(SystemExit) as stop:
        main(["serve", "--no-browser", *words])
    assert stop.value.code == status
    assert said in capsys.readouterr().err


LAUNCHED = """#include <cute/tensor.hpp>
template <class S>
__global__ void fill(S shape) {
  auto s = make_layout(shape, LayoutRight{});
}
void small() { fill<<<1, 32>>>(make_shape(Int<2>{}, Int<4>{})); }
void large() { fill<<<1, 32>>>(make_shape(Int<8>{}, Int<4>{})); }
"""


@pytest.mark.parametrize(("launch", "value"), [("1", "(_2,_4):(_4,_1)"), ("2", "(_8,_4):(_4,_1)")])
def test_a_launch_is_chosen(launch, value):
    rows = answer({"ask": "objects", "source": LAUNCHED, "launch": launch})["objects"]
    assert [row["caller"] for row in rows if row["kind"].startswith("launch")] == ["small", "large"]
    assert [row["value"] for row in rows if row["name"] == "s"] == [value]
    assert value in answer({"source": LAUNCHED, "name": "s", "launch": launch})["svg"]
    assert f"--name s --launch {launch}" in answer_in_words("command", source=LAUNCHED, name="s", launch=launch)
    assert "there are: 1 fill" in answer({"source": LAUNCHED, "name": "s", "launch": "3"})["error"]["hint"]


def answer_in_words(way: str, **question) -> str:
    out = answer({"ask": "copy", "as": way, **question})
    return out.get("text") or out["error"]["message"]


@pytest.mark.parametrize(
    ("source", "more"),
    [
        ("(4,8):(8,1)", {"options": {"tile": "4x8", "thread": "3"}}),
        ("((2,2),8):((8,16),1)", {"options": {"coords": True}}),
        ("a = (4,8):(8,1)\ncomposition(Swizzle<1,0,2>{}, a)  # both", {"options": {"palette": "grey", "view": "grid"}}),
        ("(M,8):(8,1)", {"let": {"M": "4"}, "options": {"title": "a: b # c"}}),
        ("v_wmma_f32_16x16x16_f16", {"options": {"arch": "gfx1200", "wave": "32"}}),
    ],
)
def test_a_spec_and_a_command_draw_what_the_page_draws(source, more, tmp_path, monkeypatch):
    import shlex

    from cute_viz.cli import main

    def printed(*words: str) -> dict:
        with pytest.raises(SystemExit) as stop:
            main([*words, "-o", str(tmp_path / "x.json")])
        assert stop.value.code == 0
        return {key: value for key, value in json.loads((tmp_path / "x.json").read_text()).items() if key != "source"}

    path = tmp_path / "one.yaml"
    path.write_text(answer_in_words("spec", source=source, **more))
    command, _, text = answer_in_words("command", source=source, **more).partition(" <<'LAYOUTS'\n")
    (tmp_path / "pasted").write_text(text.removesuffix("\nLAYOUTS"))
    with (tmp_path / "pasted").open() as pasted:
        monkeypatch.setattr("sys.stdin", pasted)
        assert printed("render", str(path)) == printed(*shlex.split(command)[1:])


def test_what_no_spec_holds():
    assert answer_in_words("spec", source=LAUNCHED, name="s") == "a spec selects a name only from a file"
    assert answer_in_words("spec", source=LAUNCHED, launch="1") == "a spec has no launch"


STAGED = """void f() {{
  auto l = make_layout(make_shape(_128{{}}, _8{{}}{stages}), make_stride(_1{{}}, {stride}{apart}));
  auto s = make_tensor(make_smem_ptr<float>(0), l);
  auto t = make_layout(make_shape(_32{{}}, _8{{}}), LayoutRight{{}});
  copy(make_tensor<float>(_4{{}}), local_partition(s{part}, t, threadIdx.x));
}}
"""


@pytest.mark.parametrize(
    ("source", "options", "first"),
    [
        ("(4,8):(8,1)", {}, "offset"),
        ("Sw<3,3,3> o 0 o (8,64):(64,1)", {}, "offset"),
        ("logical_divide((8,6),(4,3))", {}, "offset"),
        ("((4,8),(2,4)):((32,1),(16,8))", {"tile": "16x16"}, "owner"),
        ("SM75_U32x4_LDSM_N", {}, "owner"),
        ("(8,64):(64,1)", {"view": "banks"}, "bank"),
    ],
)
def test_all_that_cells_may_say_is_drawn(source, options, first):
    """Each choice of the page draws other words; before and after a swizzle is offered where there is one."""
    begin = answer({"ask": "draw", "source": source, "options": options})
    words = [word for word, _ in begin["labels"]]
    assert begin["labels"][0] == ("", first)
    assert ("swizzle" in words) == source.startswith("Sw<")
    drawn = [answer({"ask": "draw", "source": source, "options": {**options, "labels": word}}) for word in words]
    assert len({str([panel["labels"] for panel in one["panels"]]) for one in drawn}) == len(words)


def test_a_swizzle_is_drawn_in_bands_that_can_be_read():
    question = {"ask": "draw", "source": "Sw<3,3,3> o 0 o (8,64):(64,1)", "options": {"labels": "swizzle", "width": 722}}
    assert [panel["caption"] for panel in answer(question)["panels"]] == [f"columns {n}..{n + 15}" for n in range(0, 64, 16)]
    assert len(answer({**question, "options": {**question["options"], "fold": "32"}})["panels"]) == 2


@pytest.mark.parametrize("stride", [129, 130, 132, 128])
@pytest.mark.parametrize("staged", [False, True])
def test_the_picture_of_an_access_is_what_its_addresses_say(stride, staged):
    """Hue, bars and words of a store, counted here from the addresses: 32 threads, 4 rows of 8 columns, a word each."""
    more = dict.fromkeys(("stages", "apart", "part"), "")
    if staged:
        more = {"stages": ", _3{}", "apart": f", _{8 * stride}{{}}", "part": "(_,_,1)"}
    (row,) = asked(Request((STAGED.format(stride=f"_{stride}{{}}", **more),))).report(fixes=False).accesses
    figure = picture_of(row)
    (tile,) = figure.panels
    begin = 8 * stride if staged else 0
    words = {8 * m + k: begin + m + stride * k for m in range(4) for k in range(8)}  # of a thread
    crowd = Counter(word % 32 for word in set(words.values()))
    assert (tile.rows, tile.cols) == (4, 8)
    assert tile.data["thread"] == tuple(range(32))
    assert tile.data["bank"] == tuple(words[t] % 32 for t in range(32))
    assert tile.paints == tuple(min(crowd[words[t] % 32], 4) - 1 for t in range(32))
    assert sum(shape.kind == "area" for shape in tile.shapes) == len(set(words.values()))
    ways = max(crowd.values())
    assert figure.title == (f"Up to {ways} threads compete for one bank" if ways > 1 else "st.shared.32: ideal")
    assert f"Warp 0 needs {ways} wavefront" in figure.caption
    assert "a 128 × 8 tile" in figure.caption
