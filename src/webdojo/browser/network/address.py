"""Hosts and addresses as browsers read them, and which addresses are public."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from ada_url import URL

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NOT_PUBLIC: dict[Network, str] = {
    ipaddress.ip_network(network): why
    for network, why in {
        "0.0.0.0/8": "this network",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared by customers of a provider",
        "127.0.0.0/8": "this machine",
        "168.63.129.16/32": "the host of a virtual machine at Azure",
        "169.254.0.0/16": "link-local, metadata of clouds",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "for protocols, metadata at Oracle",
        "192.0.2.0/24": "for documentation",
        "192.88.99.0/24": "relays to IPv6",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "for benchmarks",
        "198.51.100.0/24": "for documentation",
        "203.0.113.0/24": "for documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved, broadcast",
        "::/128": "this machine",
        "::1/128": "this machine",
        "64:ff9b:1::/48": "translated to IPv4 within a network",
        "100::/64": "discarded",
        "100:0:0:1::/64": "a dummy prefix",
        "2001::/23": "for protocols",
        "2001:db8::/32": "for documentation",
        "3fff::/20": "for documentation",
        "5f00::/16": "segment routing",
        "fc00::/7": "private, metadata of clouds",
        "fe80::/10": "link-local",
        "fec0::/10": "private, of old",
        "ff00::/8": "multicast",
    }.items()
}
"""Networks that are not of the public web, by IANA's registries of special addresses and what clouds add to them: the
same on every Python, whose `is_global` has changed."""
_COMPATIBLE = ipaddress.ip_network("::/96")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@lru_cache(maxsize=4096)
def canonical(host: str) -> str:
    """A host as the URL standard writes it, in small letters and without brackets or a final dot.

    `127.1`, `0x7f.1`, `2130706433` and `①27.0.0.1` are all `127.0.0.1`. What is no host stays as it is.
    """
    host = host.strip()
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    try:
        host = URL(f"http://{bracketed}/").hostname
    except ValueError:
        host = host.lower()
    return host.strip("[]").rstrip(".")


def host_of(url: str) -> str:
    """The host of an address as `canonical` writes it; empty if it has none."""
    try:
        return canonical(URL(url).hostname)
    except ValueError:
        return ""


def place_of(url: str) -> str:
    """The host and port of an http or https address; empty if it has no host."""
    try:
        parts = URL(url)
    except ValueError:
        return ""
    return f"{canonical(parts.hostname)}:{parts.port or (443 if parts.protocol == 'https:' else 80)}"


def why_not_public(address: Address) -> str:
    """Why an address is not public, in a few words; empty if it is. IPv6 addresses may stand for IPv4 ones."""
    inner = _embedded(address)
    return next((why for network, why in _NOT_PUBLIC.items() if inner in network), "")


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address embeds, or the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        teredo = address.teredo
        return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
    return address
