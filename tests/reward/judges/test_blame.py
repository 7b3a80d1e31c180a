"""What is not the agent's doing is invalid, and what is its doing is not, however the episode ended."""

from __future__ import annotations

import pytest

from tests.reward.judges.episodes import click, done, episode, judged, seen, turn
from tests.reward.judges.protocols import PROTOCOLS
from webdojo.reward.judges.blame import not_the_agents_doing
from webdojo.types import Termination, ToolCall

BAD = [{"dead": "no connection"}, {"blocked": "HTTP 403"}]


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def ends_on(page: dict[str, str], *calls: ToolCall, start: dict[str, str] | None = None) -> str:
    """The cause for an episode that does these on a good page, and then on one that is not, where it is done."""
    pages = [start or {}] + [page] * (len(calls) - 1)
    turns = [turn(n, each, **shown) for n, (each, shown) in enumerate(zip(calls, pages, strict=True), 1)]
    found = not_the_agents_doing(episode(turns=[*turns, turn(9, done("x"), **page)], final=seen(9, **page)))
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("calls", "excused"),
    [
        ([click()], True),
        ([call("go_back")], True),
        ([call("goto_url", url="http://shop.example/list")], True),
        ([call("goto_url", url="shop.example")], True),
        ([call("goto_url", url=" HTTPS://Shop.Example/x?y")], True),
        ([click(), click()], True),
        ([call("goto_url", url="http://shop.example:1/")], False),
        ([call("goto_url", url="http://nowhere.example/")], False),
        ([call("goto_url", url="http://nowhere.example/shop.example")], False),
        ([call("goto_url", url="http://shop.example.evil.example/")], False),
        ([call("goto_url", url="http://[")], False),
        ([call("goto_url", url=7)], False),
        ([call("goto_url")], False),
        ([call("goto_url", url="")], False),
        ([call("new_tab")], False),
        ([call("switch_tab", index=1)], False),
        ([call("close_tab")], False),
        ([click(), call("new_tab")], False),
        ([call("new_tab"), click()], False),
    ],
)
@pytest.mark.parametrize("page", BAD)
def test_an_agent_cannot_excuse_itself_by_a_page_that_is_none(page, calls: list[ToolCall], excused: bool) -> None:
    cause = {"dead": "dead_page", "blocked": "blocked"}[next(iter(page))]
    assert ends_on(page, *calls) == (cause if excused else "")


@pytest.mark.parametrize("page", BAD)
def test_a_site_that_never_came_is_nobodys_fault(page) -> None:
    assert ends_on(page, call("new_tab"), call("goto_url", url="http://other.example/"), start=page)


def test_the_port_of_the_start_is_the_sites_own() -> None:
    local = episode(turns=[turn(1, call("goto_url", url="http://127.0.0.1:80/a"))], final=seen(2, dead="no connection"))
    local.task.website, local.task.start_url = "127.0.0.1", "http://127.0.0.1:80/"
    assert not_the_agents_doing(local) == ("dead_page", "the episode ended on http://shop.example/: no connection")
    local.task.start_url = "http://127.0.0.1:81/"
    assert not_the_agents_doing(local) is None


def test_what_the_agent_left_behind_does_not_count() -> None:
    dead = {"dead": "no connection"}
    turns = [turn(1, call("new_tab")), turn(2, click(), **dead), turn(3, click()), turn(4, done("x"), **dead)]
    assert not_the_agents_doing(episode(turns=turns, final=seen(5, **dead))) is not None
    assert not_the_agents_doing(episode(turns=turns, final=seen(5))) is None


def test_an_episode_without_a_last_screen_has_no_excuse() -> None:
    bare = episode()
    bare.final = None
    assert not_the_agents_doing(bare) is None


@pytest.mark.parametrize(("page", "cause"), [(BAD[0], "dead_page"), (BAD[1], "blocked")])
@pytest.mark.parametrize("termination", [Termination.COMPLETED, Termination.MAX_STEPS, Termination.CONTEXT_LENGTH])
@pytest.mark.parametrize("answer", ["7", ""])
@pytest.mark.parametrize("name", PROTOCOLS)
async def test_a_page_that_is_none_makes_an_episode_invalid_however_it_ended(
    name, termination, answer, page, cause
) -> None:
    protocol = PROTOCOLS[name]
    model = protocol.model()
    shut_out = episode(3, answer, final=seen(9, **page), termination=termination, evaluator=protocol.evaluator)
    reward = await judged(protocol.make(model), shut_out)
    assert (reward.valid, reward.cause, reward.value, reward.success) == (False, cause, 0, False)
    assert next(iter(page.values())) in reward.reason
    assert model.asked == []


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_an_episode_that_ran_out_of_steps_on_a_good_page_has_failed(name) -> None:
    protocol = PROTOCOLS[name]
    late = episode(3, None, termination=Termination.MAX_STEPS, evaluator=protocol.evaluator)
    model = protocol.model()
    reward = await judged(protocol.make(model), late)
    assert (reward.valid, reward.value, reward.cause, model.asked) == (True, 0, "", [])
