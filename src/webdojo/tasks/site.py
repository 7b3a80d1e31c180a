"""The web site that a host belongs to.

A site is what one owner registers: the public suffix (`co.uk`, `github.io`) and the label before it. The list of
suffixes is the one that the package `publicsuffixlist` ships; nothing is fetched. A host under no known suffix, such as
`shop-17.localhost` of the embedded web, ends in a suffix of one label, and an address in numbers is a site by itself.
"""

from __future__ import annotations

import ipaddress
from functools import cache, lru_cache
from typing import Any


@lru_cache(maxsize=100_000)
def site_of(host: str) -> str:
    """The site that a host name without port belongs to: `amazon.co.uk` of `www.amazon.co.uk`."""
    name = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return _suffixes().privatesuffix(name) or name


@cache
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
