"""The page's server, on loopback: the page and its modules, questions and answers, and the file that is followed."""

from __future__ import annotations

import errno
import json
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cute_viz.errors import CuteVizError
from cute_viz.live import guard
from cute_viz.live.follow import Followed
from cute_viz.live.page import TYPES, assets, document, policy, settings
from cute_viz.live.pool import Cancelled, Pool

CONNECTIONS = 200  # at once
HALF_OPEN = 5.0  # seconds that a connection may take for the first request that is answered, however slowly it speaks
PATIENCE = 30.0  # seconds that it may take for another one
BEAT = 15.0  # seconds after which a page that follows a file is told that nothing has changed
_READ = ("Host", "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Content-Type", "Cookie")  # twice: not ours


class Server(ThreadingHTTPServer):
    """Serves until `shutdown`; `close` ends its processes too. host, port: where it listens; port 0 is any. followed: the file
    that pages show. pool: who answers. Whoever else is on the machine reaches the port, too: only requests with the `token` of
    the address are answered."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str = "127.0.0.1", port: int = 0, followed: Followed | None = None, pool: Pool | None = None) -> None:
        self.followed = followed
        self.token = secrets.token_urlsafe(24)
        self._until: dict[Any, float] = {}  # connections, and when those that ask nothing are closed
        self._lock = threading.Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            said = f"cannot listen on {host}:{port}: {error.strerror or error}"
            busy = error.errno in (errno.EADDRINUSE, errno.EACCES)
            hint = "`port=0` takes any free port" if busy else "`host=127.0.0.1`, or another address of this machine"
            raise CuteVizError(said, hint=hint) from None
        except OverflowError:
            raise CuteVizError(f"there is no port {port}", hint="0 to 65535") from None
        self.pool = pool or Pool()
        self.hosts = tuple(dict.fromkeys((*guard.LOCAL, host.lower())))
        more = {"engine": "server"} | ({"file": followed.name} if followed else {})
        self.page = document(settings(**more)).encode()

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        host = self.server_address[0]
        name = "127.0.0.1" if host in ("0.0.0.0", "") else str(host)
        return f"http://{name}:{self.server_address[1]}/?token={self.token}"

    def close(self) -> None:
        """Stop listening, and end the processes that answer."""
        if self.followed is not None:
            self.followed.close()
        self.server_close()
        self.pool.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, as far as there are places: whoever asks nothing gives way, the oldest first."""
        with self._lock:
            if len(self._until) >= CONNECTIONS and not self._cut(min(self._until, key=self._until.__getitem__)):
                self.shutdown_request(request)
                return
            self._until[request] = time.monotonic() + HALF_OPEN
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The thread of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._until.pop(request, None)

    def service_actions(self) -> None:
        """Close the connections that have asked nothing for long."""
        with self._lock:
            for request in [one for one, until in self._until.items() if until < time.monotonic()]:
                self._cut(request)

    def may_wait(self, request: Any, seconds: float = float("inf")) -> None:
        """How long a connection may ask nothing from now on; for ever while it is answered."""
        with self._lock:
            if request in self._until:
                self._until[request] = time.monotonic() + seconds

    def _cut(self, request: Any) -> bool:
        if self._until[request] == float("inf"):
            return False
        del self._until[request]
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)  # its thread reads the end, and closes it
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that has gone away is not an error."""


def free(host: str, port: int) -> int:
    """A port that can be listened on: this one, or else one of the next nine, or 0, any."""
    for number in range(port, port + 10):
        with suppress(OSError), socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, number))
            return number
    return 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "cute-viz"
    sys_version = ""
    timeout = PATIENCE
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: standard error is for the address."""

    def handle_one_request(self) -> None:
        """A request; then the connection waits for another."""
        super().handle_one_request()
        self.server.may_wait(self.connection, PATIENCE)

    def do_GET(self) -> None:
        """The page, its modules, and the file that is followed."""
        if self._refused():
            return
        path = self.path.partition("?")[0]
        if path == "/":
            name = guard.cookie(int(self.server.server_address[1]))
            more = {"Set-Cookie": f"{name}={self.server.token}; Path=/; HttpOnly; SameSite=Strict"}
            more["Content-Security-Policy"] = policy() + "; frame-ancestors 'none'"
            self._send(200, "text/html", self.server.page, more)
        elif path.startswith("/assets/") and (data := assets().get(path.removeprefix("/assets/"))) is not None:
            self._send(200, TYPES["." + path.rpartition(".")[2]], data)
        elif path == "/file" and self.server.followed is not None:
            self._follow(self.server.followed)
        else:
            self._say(404, "there is nothing here")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """A question."""
        if self._refused(asks=True):
            return
        length = " ".join(self.headers.get_all("Content-Length") or ())
        if not length.isascii() or not length.isdecimal() or "Transfer-Encoding" in self.headers:
            self._say(411, "the length of the question is missing")
        elif len(length) > 12 or int(length) > guard.BODY:
            self._say(413, f"a question has at most {guard.BODY} bytes")
        elif self.path.partition("?")[0] != "/ask":
            self._say(404, "there is nothing here")
        else:
            self._ask(int(length))

    def _ask(self, length: int) -> None:
        try:
            status, data = self._answer(self.rfile.read(length))
        except OSError:
            self.close_connection = True
            return
        if status == 400:
            self._say(status, data.decode())
        else:
            self._send(status, "application/json", data)

    def _answer(self, body: bytes) -> tuple[int, bytes]:
        """The status and the answer of a question."""
        try:
            question = json.loads(body)
        except (ValueError, RecursionError):
            return 400, b"a question must be JSON"
        page, path, number = "", None, None
        if isinstance(question, dict):
            page, number = str(question.pop("page", ""))[:64], question.pop("number", None)
            number = number if isinstance(number, int) and abs(number) < 1 << 53 else None
            if question.pop("file", False) is True and self.server.followed is not None:
                question["source"], path = self.server.followed.state.text, self.server.followed.path
        try:
            return 200, self.server.pool.ask(question, page, path, number)
        except Cancelled:
            return 200, b'{"cancelled":true}'

    def _follow(self, followed: Followed) -> None:
        """The file's state as events, one for each time that it is saved."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command == "HEAD":
            return
        version = 0
        try:
            while followed.open:
                state = followed.after(version, BEAT)
                if state.version != version:
                    version = state.version
                    words = json.dumps({"version": version, "name": followed.name, "text": state.text, "error": state.error})
                    self.wfile.write(f"data: {words}\n\n".encode())
                else:
                    self.wfile.write(b": nothing new\n\n")
                self.wfile.flush()
        except OSError:
            pass  # the page has gone

    @cached_property
    def _is_of_another(self) -> bool:
        """Once for each connection, as many requests come by it."""
        return guard.is_of_another(self.client_address[:2], self.connection.getsockname()[:2])

    def _refused(self, *, asks: bool = False) -> bool:
        port = int(self.server.server_address[1])
        path, _, query = self.path.partition("?")
        given = {name: self.headers.get_all(name) or () for name in _READ}
        headers = {name: found[0] if len(found) == 1 else "several" for name, found in given.items() if found}
        words = guard.refusal(headers, self.server.hosts, port, asks=asks, page=path == "/")
        if words is None and self._is_of_another:
            words = guard.ANOTHER
        if words is None and not guard.knows(self.server.token, query, headers.get("Cookie", ""), port):
            words = guard.NO_TOKEN
        if words is None:
            self.server.may_wait(self.connection)
            return False
        self._say(403, words)
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request of HTTP, or has another method."""
        self.request_version = self.protocol_version  # of HTTP 0.9, which has no head, only good requests are answered
        self._say(code, message or self.responses.get(code, ("this is not a request", ""))[0])

    def end_headers(self) -> None:
        """Those of every answer, and the end."""
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def _say(self, status: int, words: str) -> None:
        self.close_connection = True  # whatever else the request holds is not read
        self._send(status, "text/plain", words.encode("utf-8", "replace"), {"Connection": "close"})

    def _send(self, status: int, kind: str, data: bytes, more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()
