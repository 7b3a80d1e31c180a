"""Hosts come on the list by failing again and again, and leave it by time."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import pytest

from webdojo.browser.blocklist import Blocklist
from webdojo.errors import StoreError


def test_failures_in_a_row_block_until_their_time_is_over(tmp_path: Path) -> None:
    clock = [1000.0]
    hosts = Blocklist(tmp_path / "hosts.sqlite", failures=3, hours=12, now=lambda: clock[0])
    for _ in range(2):
        hosts.failed("Shop.example", "HTTP 403")
    hosts.failed("other.example", "timeout")
    assert hosts.blocked() == {}
    hosts.failed("shop.example", "reCAPTCHA")
    (entry,) = hosts.blocked().values()
    assert (entry.host, entry.reason, entry.until) == ("shop.example", "reCAPTCHA", 1000 + 12 * 3600)
    clock[0] = entry.until
    assert hosts.blocked() == {}
    hosts.failed("shop.example", "HTTP 403")
    assert hosts.blocked() == {}, "its record was not cleaned"


def test_success_wipes_the_record(tmp_path: Path) -> None:
    hosts = Blocklist(tmp_path / "hosts.sqlite", failures=2)
    for host in ("a.example", "b.example"):
        hosts.failed(host, "timeout")
    hosts.worked("a.example")
    for host in ("a.example", "b.example"):
        hosts.failed(host, "timeout")
    assert list(hosts.blocked()) == ["b.example"]


def fail_often(path: Path) -> None:
    hosts = Blocklist(path, failures=40)
    for _ in range(10):
        hosts.failed("shop.example", "HTTP 429")


def test_workers_share_one_list(tmp_path: Path) -> None:
    path = tmp_path / "hosts.sqlite"
    context = get_context("spawn")
    workers = [context.Process(target=fail_often, args=(path,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert list(Blocklist(path, failures=40).blocked()) == ["shop.example"]


def test_a_file_that_is_no_list_is_named(tmp_path: Path) -> None:
    (tmp_path / "hosts.sqlite").write_text("not a database, but long enough to be read as one" * 50)
    with pytest.raises(StoreError, match=r"hosts\.sqlite' cannot be used .*; give another path"):
        Blocklist(tmp_path / "hosts.sqlite")
