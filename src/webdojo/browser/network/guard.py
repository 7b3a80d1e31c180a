"""Which addresses a browser may reach.

It may reach only http and https, only hosts that the recipe allows, and only public addresses: an agent that clicks on
what strangers wrote must not reach the machine that it runs on, its network, or the metadata service of a cloud.
`Guard` decides, and `proxy.GuardProxy` enforces it for every connection that the browser opens, whatever asks for it
(page, frame, worker, redirect), after the name has been resolved.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from webdojo.browser.config import GuardConfig
from webdojo.errors import ConfigError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

V = TypeVar("V")

_REMEMBERED = 1000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Refused(Exception):
    """A host or address that may not be reached; the message says why, in a few words.

    `setting` says which key of the recipe refuses it, or would allow it: for the user, not for the agent.
    """

    def __init__(self, reason: str, setting: str = "browser.guard") -> None:
        super().__init__(reason)
        self.setting = setting


class Recent(OrderedDict[str, V]):
    """Values of hosts; only those that were set last are kept."""

    def __setitem__(self, host: str, value: V) -> None:
        super().__setitem__(host, value)
        self.move_to_end(host)
        if len(self) > _REMEMBERED:
            self.popitem(last=False)


class Guard:
    """The rules of one recipe, and the hosts that they refused lately."""

    def __init__(self, config: GuardConfig) -> None:
        self._allowed = [_domain(entry) for entry in config.allowed_domains]
        self._blocked = [_domain(entry) for entry in config.blocked_domains]
        self._private_names: list[str] = []
        self._private: list[Network] = []
        for entry in config.private_hosts:
            try:
                self._private.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                if "/" in entry or entry.replace(".", "").isdigit():
                    raise ConfigError(
                        f"browser.guard.private_hosts has {entry!r}, which is no address, network or host name: "
                        "write 10.0.0.5, 10.0.0.0/8 or intranet.example"
                    ) from None
                self._private_names.append(_domain(entry))
        self._refused: Recent[Refused] = Recent()

    def check_host(self, host: str) -> None:
        """Raise `Refused` for a host name that a list forbids."""
        name = _domain(host)
        if _within(name, self._blocked):
            raise Refused("the domain is blocked", "browser.guard.blocked_domains")
        if self._allowed and not _within(name, self._allowed):
            raise Refused("the domain is not among the allowed ones", "browser.guard.allowed_domains")

    def check_address(self, host: str, address: Address) -> None:
        """Raise `Refused` for an address that is not public, unless it or its host is listed as an exception."""
        if _within(_domain(host), self._private_names) or any(address in network for network in self._private):
            return
        inner = _embedded(address)
        if not inner.is_global or inner.is_multicast:
            raise Refused(f"{address} is not a public address", f"browser.guard.private_hosts=[{host}] allows it")

    def check(self, host: str) -> None:
        """Raise `Refused` for a host that may not be reached, as far as its name or literal address tells."""
        with self._remembering(host):
            self.check_host(host)
            with contextlib.suppress(ValueError):  # a name, which somebody else resolves
                self.check_address(host, ipaddress.ip_address(host))
            if _within(_domain(host), ["localhost"]):
                self.check_address(host, ipaddress.ip_address("127.0.0.1"))

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host that may be reached, as the resolver orders them; raise Refused or OSError."""
        with self._remembering(host):
            self.check_host(host)
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
            allowed, reason = [], Refused("it has no address")
            for *_, (text, *_) in found:
                try:
                    self.check_address(host, ipaddress.ip_address(str(text).partition("%")[0]))
                    allowed.append(str(text))
                except Refused as refused:
                    reason = refused
            if not allowed:
                raise reason
        return allowed

    @contextlib.contextmanager
    def _remembering(self, host: str) -> Iterator[None]:
        """Remember that the block refuses a host, or forget an earlier refusal."""
        try:
            yield
        except Refused as refused:
            self._refused[_domain(host)] = Refused(str(refused), refused.setting)  # without its traceback
            raise
        self._refused.pop(_domain(host), None)

    def refusal(self, url: str) -> Refused | None:
        """Return why the host of a URL was refused, or None if it was not."""
        return self._refused.get(_domain(urlsplit(url).hostname or ""))


def _domain(host: str) -> str:
    return host.strip().rstrip(".").lower().removeprefix("*.")


def _within(name: str, domains: Sequence[str]) -> bool:
    return any(name == domain or name.endswith(f".{domain}") for domain in domains)


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds, or the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        teredo = address.teredo
        return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
    return address
