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

from webdojo.browser.config import GuardConfig
from webdojo.browser.network.address import Address, Network, canonical, host_of, place_of, why_not_public
from webdojo.errors import ConfigError

V = TypeVar("V")

_REMEMBERED = 1000


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
    """The rules of one recipe, and the hosts that they refused lately or that could not be reached."""

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
        self._unreached: Recent[str] = Recent()
        """Reasons by host and port."""

    def check_host(self, host: str) -> None:
        """Raise `Refused` for a host name that a list forbids."""
        name = canonical(host)
        if _within(name, self._blocked):
            raise Refused("the domain is blocked", "browser.guard.blocked_domains")
        if self._allowed and not _within(name, self._allowed):
            raise Refused("the domain is not among the allowed ones", "browser.guard.allowed_domains")

    def check_address(self, host: str, address: Address) -> None:
        """Raise `Refused` for an address that is not public, unless it or its host is listed as an exception."""
        if _within(canonical(host), self._private_names) or any(address in network for network in self._private):
            return
        if why := why_not_public(address):
            raise Refused(
                f"{address} is not a public address ({why})", f"browser.guard.private_hosts=[{host}] allows it"
            )

    def check(self, host: str) -> None:
        """Raise `Refused` for a host that may not be reached, as far as its name or literal address tells."""
        with self._remembering(host):
            self.check_host(host)
            self.check_private(host)

    def check_private(self, host: str) -> None:
        """Raise `Refused` for an address that is not public, or `localhost`, unless it is listed as an exception."""
        with contextlib.suppress(ValueError):  # a name, which somebody else resolves
            self.check_address(host, ipaddress.ip_address(canonical(host)))
        if _within(canonical(host), ["localhost"]):
            self.check_address(host, ipaddress.ip_address("127.0.0.1"))

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host that may be reached, as the resolver orders them; raise Refused or OSError."""
        with self._remembering(host):
            self.check_host(host)
            found = await asyncio.get_running_loop().getaddrinfo(canonical(host), port, type=socket.SOCK_STREAM)
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
            self._refused[canonical(host)] = Refused(str(refused), refused.setting)  # without its traceback
            raise
        self._refused.pop(canonical(host), None)

    def refusal(self, url: str) -> Refused | None:
        """Return why the host of a URL was refused, or None if it was not."""
        return self._refused.get(host_of(url))

    @contextlib.contextmanager
    def reaching(self, host: str, port: int) -> Iterator[None]:
        """Remember a ConnectionError of the block, which says why a host was not reached, or forget an earlier one."""
        place = f"{canonical(host)}:{port}"
        try:
            yield
        except ConnectionError as error:
            self._unreached[place] = str(error)
            raise
        self._unreached.pop(place, None)

    def why_failed(self, url: str) -> str:
        """Why a URL did not load, as an agent may read it: refused, or not reached; empty if neither was so."""
        refused = self.refusal(url)
        return f"refused: {refused}" if refused is not None else self._unreached.get(place_of(url), "")


def _domain(entry: str) -> str:
    """The domain that an entry of a list names, which may begin with `*.`."""
    return canonical(entry.strip().removeprefix("*."))


def _within(name: str, domains: Sequence[str]) -> bool:
    return any(name == domain or name.endswith(f".{domain}") for domain in domains)
