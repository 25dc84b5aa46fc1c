"""WebSocket frames over a connection (RFC 6455): texts in, texts out.

From key to page a small picture takes 15 ms with a socket and 16 to 17 with a request (`tests/benchmarks/live.py`).
"""

from __future__ import annotations

import threading
from base64 import b64encode
from hashlib import sha1
from typing import Protocol

_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
_WRONG, _NO_TEXT, _TOO_BIG = 1002, 1003, 1009  # why a socket is closed (section 7.4.1)


class Source(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """So many, or fewer at its end."""


class Wire(Protocol):
    """What bytes are written to."""

    def sendall(self, data: bytes, /) -> None:
        """All of them."""


def accepted(key: str) -> str:
    """What a server answers to the key of a client that wants a socket (section 4.2.2).

    >>> accepted("dGhlIHNhbXBsZSBub25jZQ==")
    's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
    """
    return b64encode(sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11", usedforsecurity=False).digest()).decode()


class WebSocket:
    """A server's end: `receive` from one thread, `send` from any.

    most: bytes of a text.
    """

    def __init__(self, source: Source, wire: Wire, most: int) -> None:
        self._source, self._wire, self._most = source, wire, most
        self._sending = threading.Lock()
        self._farewell = b""

    def receive(self) -> bytes | None:
        """The next text; None once the other end has closed, or has sent a frame that no client may send: then `close`.

        Raises: OSError where the connection breaks.
        """
        text, begun = b"", False
        while True:
            kind, last, data = self._next(self._most - len(text))
            if kind == _CLOSE:
                self._farewell = data
                return None
            if kind == _PING:
                self._frame(_PONG, data)
            elif kind != _PONG:
                if kind != (0 if begun else _TEXT):
                    self._farewell = _why(_NO_TEXT if kind == _BINARY else _WRONG)
                    return None
                text, begun = text + data, True
                if last:
                    return text

    def _next(self, most: int) -> tuple[int, bool, bytes]:
        """The next frame: its kind, whether it is the last of a text, its bytes; what is none closes, with the reason."""
        head = self._source.read(2)
        if len(head) < 2:
            return _CLOSE, True, b""
        last, kind, length = bool(head[0] & 0x80), head[0] & 0x0F, head[1] & 0x7F
        if head[0] & 0x70 or not head[1] & 0x80 or (kind >= _CLOSE and (length > 125 or not last)):
            return _CLOSE, True, _why(_WRONG)
        if length > 125:
            length = int.from_bytes(self._source.read(2 if length == 126 else 8), "big")
        if length > most:
            return _CLOSE, True, _why(_TOO_BIG)
        mask, data = self._source.read(4), self._source.read(length)
        if len(mask) < 4 or len(data) < length or kind == _CLOSE:
            return _CLOSE, True, b""
        return kind, last, _unmasked(mask, data)

    def send(self, text: bytes) -> None:
        """Send a text, UTF-8.

        Raises: OSError where the connection breaks.
        """
        self._frame(_TEXT, text)

    def close(self) -> None:
        """Say that nothing more will come, and why.

        Raises: OSError where the connection breaks.
        """
        self._frame(_CLOSE, self._farewell)

    def _frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            length = bytes([size])
        elif size < 1 << 16:
            length = b"\x7e" + size.to_bytes(2, "big")
        else:
            length = b"\x7f" + size.to_bytes(8, "big")
        with self._sending:
            self._wire.sendall(bytes([0x80 | kind]) + length + data)


def _why(code: int) -> bytes:
    return code.to_bytes(2, "big")


def _unmasked(mask: bytes, data: bytes) -> bytes:
    """Every client masks what it sends (section 5.3)."""
    key = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(len(data), "big")
