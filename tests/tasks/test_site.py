"""What counts as one site."""

from __future__ import annotations

import socket

import pytest

from webdojo.tasks.site import site_of


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.amazon.com", "amazon.com"),
        ("WWW.Amazon.co.uk", "amazon.co.uk"),
        ("dictionary.cambridge.org", "cambridge.org"),
        ("alice.github.io", "alice.github.io"),
        ("docs.alice.github.io", "alice.github.io"),
        ("shop-17.localhost", "shop-17.localhost"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("co.uk", "co.uk"),
        ("", ""),
    ],
)
def test_the_site_of_a_host(host: str, site: str) -> None:
    assert site_of(host) == site


def test_the_list_of_suffixes_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    from webdojo.tasks import site

    site.site_of.cache_clear()
    site._suffixes.cache_clear()
    monkeypatch.setattr(socket, "socket", None)
    assert site.site_of("www.parliament.wa.gov.au") == "parliament.wa.gov.au"
