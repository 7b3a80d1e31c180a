"""What the robots.txt of sites of others forbids.

A robots.txt is read once for each site while an environment runs. One that is not there, or cannot be read, forbids
nothing (RFC 9309, 2.3.1.3), and a site that does not answer at all shows when the browser opens it. What reads it is
imported then: programs that only read recipes do without.
"""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webdojo.browser.network.address import canonical, host_of, why_not_public

if TYPE_CHECKING:
    import httpx
    from protego import Protego

AGENT = "webdojo"
"""Our name in a robots.txt; a site that does not know it speaks to `*`."""
_TIMEOUT_S = 10.0
_MOST_HOPS = 5
"""Redirects that are followed, as RFC 9309 asks."""
_MOST_BYTES = 500 * 1024
"""What RFC 9309 asks a reader to take at least."""


class Robots:
    """What the robots.txt of each site allows."""

    def __init__(self) -> None:
        self._rules: dict[str, Protego] = {}
        self._reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def allows(self, url: str) -> bool:
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        from protego import Protego

        async with self._reading[site]:
            if site not in self._rules:
                self._rules[site] = Protego.parse(await _read(f"{site}/robots.txt"))
        return bool(self._rules[site].can_fetch(url, AGENT))


async def _read(url: str) -> str:
    """A robots.txt as far as it counts; empty where it is not there, or not on the open web."""
    import httpx

    try:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            httpx.AsyncClient(timeout=_TIMEOUT_S, headers={"User-Agent": AGENT}) as client,
        ):
            for _ in range(_MOST_HOPS):
                if not await is_public(host_of(url)):
                    break
                async with client.stream("GET", url) as response:
                    if response.next_request is None:
                        return await _text(response)
                    url = str(response.next_request.url)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        pass
    return ""


async def _text(response: httpx.Response) -> str:
    if response.status_code != 200:
        return ""
    data = b""
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) >= _MOST_BYTES:
            break
    return data[:_MOST_BYTES].decode(errors="replace")


async def is_public(host: str) -> bool:
    """Whether a host is on the open web: it has addresses, and all of them are public."""
    addresses = await _addresses(host)
    return bool(addresses) and not any(map(why_not_public, addresses))


async def is_own(host: str) -> bool:
    """Whether a host is the user's own: it has an address that is not public."""
    return any(map(why_not_public, await _addresses(host)))


async def _addresses(host: str) -> list[IPv4Address | IPv6Address]:
    """Empty where it has none that can be found."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(canonical(host), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [ip_address(str(address).partition("%")[0]) for *_, (address, *_) in found]
