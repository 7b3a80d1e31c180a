"""Hosts come on the list by failing again and again, and leave it by time."""

from __future__ import annotations

import time
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import pytest

from webdojo.browser.network.blocklist import Blocklist
from webdojo.errors import StoreError
from webdojo.types import ImageRef, Observation, Task, Termination, Trajectory


def test_failures_in_a_row_block_until_their_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    with closing(Blocklist(tmp_path / "hosts.sqlite", failures=3, hours=12)) as hosts:
        for _ in range(2):
            hosts.failed("Shop.example", "HTTP 403")
        hosts.failed("other.example", "timeout")
        assert hosts.blocked() == {}
        hosts.failed("shop.example", "reCAPTCHA")
        assert hosts.blocked() == {"shop.example": "reCAPTCHA"}
        clock[0] += 12 * 3600 - 1
        assert hosts.blocked() == {"shop.example": "reCAPTCHA"}
        clock[0] += 1
        assert hosts.blocked() == {}
        hosts.failed("shop.example", "HTTP 403")
        assert hosts.blocked() == {}, "its record was not cleaned"


def test_success_wipes_the_record(tmp_path: Path) -> None:
    with closing(Blocklist(tmp_path / "hosts.sqlite", failures=2)) as hosts:
        for host in ("a.example", "b.example"):
            hosts.failed(host, "timeout")
        hosts.worked("a.example")
        for host in ("a.example", "b.example"):
            hosts.failed(host, "timeout")
        assert list(hosts.blocked()) == ["b.example"]


def episode(host: str, termination: Termination, blocked: str | None = "", kind: str = "") -> Trajectory:
    """A trajectory on a host; `blocked` None has no screen at all."""
    task = Task(id="t", instruction="Find it.", start_url=f"https://{host}/", website=host, kind=kind)
    image = ImageRef(sha="0" * 64, width=1, height=1, mime="image/jpeg")
    final = None
    if blocked is not None:
        final = Observation(screenshot=image, url="", title="", tabs=[], viewport_px=(1, 1), blocked=blocked)
    return Trajectory(id="e", task=task, turns=[], termination=termination, final=final, error="it answered HTTP 503")


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (episode("shop.example", Termination.START_ERROR, None), "it answered HTTP 503"),
        (episode("shop.example", Termination.COMPLETED, "reCAPTCHA"), "reCAPTCHA"),
        (episode("shop.example", Termination.ENV_ERROR, None), None),
        (episode("shop.example", Termination.MAX_STEPS), None),
        (episode("shop-1.localhost", Termination.START_ERROR, None, kind="shop"), None),
    ],
)
def test_what_counts_against_a_host(tmp_path: Path, first: Trajectory, reason: str | None) -> None:
    with closing(Blocklist(tmp_path / "hosts.sqlite", failures=1)) as hosts:
        hosts.note(first)
        assert list(hosts.blocked().values()) == ([reason] if reason else [])


def test_an_episode_that_works_wipes_the_record(tmp_path: Path) -> None:
    with closing(Blocklist(tmp_path / "hosts.sqlite", failures=2)) as hosts:
        for end in (Termination.START_ERROR, Termination.MAX_STEPS, Termination.START_ERROR):
            hosts.note(episode("shop.example", end, None if end is Termination.START_ERROR else ""))
        assert hosts.blocked() == {}


def fail_often(path: Path) -> None:
    with closing(Blocklist(path, failures=40)) as hosts:
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
    with closing(Blocklist(path, failures=40)) as hosts:
        assert list(hosts.blocked()) == ["shop.example"]


def test_a_file_that_is_no_list_is_named(tmp_path: Path) -> None:
    (tmp_path / "hosts.sqlite").write_text("not a database, but long enough to be read as one" * 50)
    with pytest.raises(StoreError, match=r"hosts\.sqlite' cannot be used .*; give another path"):
        Blocklist(tmp_path / "hosts.sqlite")
