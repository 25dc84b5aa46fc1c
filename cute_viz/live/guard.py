"""Who may ask: whoever has the token, from the server's own page, naming it as its host, in a size that can be meant."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from hmac import compare_digest
from ipaddress import ip_address
from urllib.parse import parse_qs

BODY = 1 << 21  # bytes of a question
LOCAL = ("127.0.0.1", "localhost", "[::1]")
ANOTHER = "this page belongs to another user of this machine"
NO_TOKEN = "this page opens with a token: open the address that `cute-viz serve` printed when it started"


def refusal(headers: Mapping[str, str], hosts: tuple[str, ...], port: int, *, asks: bool = False, page: bool = False) -> str | None:
    """Why a request is refused, or None.

    hosts: the names of the server. asks: it sends a question, so it has to come from the page: no other site can make a browser
    send JSON without asking first, and none gets an answer to that. page: it is for the page itself, to
    which a link from elsewhere may lead.
    """
    host = headers.get("Host", "")
    if not _is_ours(host, hosts, port):
        return f"this server is not {_short(host)}"
    origin = headers.get("Origin")
    if origin is not None and origin != f"http://{host}":
        return "a request from another origin is refused"
    site = headers.get("Sec-Fetch-Site")
    followed = page and headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
    if site is not None and site not in ("same-origin", "none") and not followed:
        return "a request from another origin is refused"
    if asks and headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        return "a question must be application/json"
    return None


def cookie(port: int) -> str:
    """The name of the cookie that holds the token; cookies do not know ports, so it does."""
    return f"cute-viz-{port}"


def knows(token: str, query: str, cookies: str, port: int) -> bool:
    """Whether a request has the token: in its address, as the one that is printed, or in the cookie that the page sets."""
    pairs = [one.strip().partition("=") for one in cookies[: 1 << 14].split(";")]
    given = [value for name, _, value in pairs if name == cookie(port)]
    given += parse_qs(query[:1000]).get("token", [])
    return any(compare_digest(one.encode("utf-8", "replace"), token.encode()) for one in given)


def is_of_another(client: tuple[str, int], server: tuple[str, int], tables: str = "/proc/net") -> bool:
    """Whether a connection belongs to another user of this machine than the server, as Linux tells: the token is among the words
    of the browser's process, which all users see. Root's, and those that the tables do not have, do not."""
    ends = [_end(client), _end(server)]
    for name in ("tcp", "tcp6"):
        with suppress(OSError), open(os.path.join(tables, name), encoding="ascii") as table:
            for row in table:
                words = row.split()
                if [word[-13:] for word in words[1:3]] == ends and os.geteuid() and int(words[7]) not in (0, os.geteuid()):
                    return True
    return False


def _end(address: tuple[str, int]) -> str:
    """The end of an address as Linux writes it in its tables: the last word, in the order of the machine, and the port."""
    last = ip_address(address[0].partition("%")[0]).packed[-4:]
    return f"{int.from_bytes(last, sys.byteorder):08X}:{address[1]:04X}"


def _is_ours(host: str, hosts: tuple[str, ...], port: int) -> bool:
    name, _, given = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", "80")
    if given != str(port):
        return False
    if name.lower() in hosts:
        return True
    if not set(hosts) & {"0.0.0.0", "[::]"}:
        return False
    try:  # it listens everywhere: an address is nobody's name, which a foreign page could have pointed here
        return ip_address(name.strip("[]")) is not None
    except ValueError:
        return False


def _short(words: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in words[:80]) or "named"
