"""Who may ask: requests that name this server as their host and come from its own page, of a size that can be meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address

BODY = 1 << 21  # bytes of a question
LOCAL = ("127.0.0.1", "localhost", "[::1]")


def refusal(
    headers: Mapping[str, str], hosts: tuple[str, ...], port: int, *, asks: bool = False, opens: bool = False
) -> str | None:
    """Why a request is refused, or None.

    hosts: the names of the server. asks: it sends a question, so it has to come from the page: no other site can make a browser
    send JSON without asking first, and none gets an answer to that. opens: it wants a socket, which a browser gives to any site
    but says for which.

    >>> refusal({"Host": "127.0.0.1:8000"}, LOCAL, 8000, asks=False)
    >>> refusal({"Host": "evil.example:8000"}, LOCAL, 8000, asks=False)
    'this server is not evil.example:8000'
    >>> own = {"Host": "localhost:8000", "Content-Type": "application/json"}
    >>> refusal(own | {"Origin": "http://evil.example"}, LOCAL, 8000, asks=True)
    'a request from another origin is refused'
    """
    host = headers.get("Host", "")
    if not _is_ours(host, hosts, port):
        return f"this server is not {_short(host)}"
    origin = headers.get("Origin")
    if (origin is not None or opens) and origin != f"http://{host}":
        return "a request from another origin is refused"
    site = headers.get("Sec-Fetch-Site")
    if asks and site is not None and site not in ("same-origin", "none"):
        return "a request from another origin is refused"
    if asks and headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        return "a question must be application/json"
    return None


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
