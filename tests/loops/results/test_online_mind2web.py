"""What is exported for Online-Mind2Web's leaderboard, held against the rules of its schema v2."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.loops.judging.known import RECIPE
from tests.store.fabricate import observation, page_image, trajectory, turn
from webdojo.browser.tools import TOOLS, check_call
from webdojo.errors import StoreError
from webdojo.loops.results.online_mind2web import NO_SCREEN, action_of, export
from webdojo.store.run import RunStore
from webdojo.tasks.sources.online_mind2web import load
from webdojo.types import Feedback, Task, Termination, ToolCall, Trajectory

NAME = "b7258ee05d75e6c50673a59914db412e"
ROW = {
    "task_id": NAME,
    "confirmed_task": "Find a kettle",
    "website": "https://www.example.com/",
    "reference_length": 6,
    "level": "easy",
}


def loaded(row: dict[str, Any]) -> Task:
    """As the recipe `online_mind2web` reads it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "tasks.json"
        file.write_text(json.dumps([row]))
        return next(load(file))


TASK = loaded(ROW)
STATUS = r"( \| (SUCCESS|FAILED))?"
GRAMMAR = re.compile(
    rf"page -> (NAVIGATE|GO_BACK|GO_FORWARD|REFRESH) -> .+{STATUS}"
    rf"|(CLICK|TYPE|SCROLL|HOVER|WAIT|PRESS_KEY|SELECT) \S.* -> .+{STATUS}"
    r"|TASK_COMPLETE -> ANSWER:.*",
)


def check(folder: Path) -> dict[str, Any]:
    """Assert the rules of the schema that consumers enforce (its README, §5 and §6), and return the document."""
    document: dict[str, Any] = json.loads((folder / "result.json").read_text())
    assert document.keys() == {
        *("schema_version", "task", "task_id", "agent_final_answer", "reference_length", "action_history")
    }
    assert document["schema_version"] == "online-mind2web-v2"
    assert re.fullmatch(r"[A-Za-z0-9_\-]+", document["task_id"]) and folder.name == document["task_id"]
    assert isinstance(document["reference_length"], int) and document["reference_length"] >= 1
    history = document["action_history"]
    assert [step["step"] for step in history] == list(range(len(history))) != []
    for step in history:
        assert step.keys() == {"step", "screenshot", "url", "action", "action_status", "thought"}
        assert re.fullmatch(r"\d{4}\.(png|jpg|jpeg|webp)", step["screenshot"])
        assert (folder / "trajectory" / step["screenshot"]).is_file()
        assert GRAMMAR.fullmatch(step["action"]), step["action"]
        suffix = re.search(r" \| (SUCCESS|FAILED)$", step["action"])
        assert step["action_status"] == (suffix[1] if suffix else None)
    assert [step["screenshot"] for step in history] == sorted(step["screenshot"] for step in history)
    last = history[-1]["action"]
    assert last.startswith("TASK_COMPLETE")
    if document["agent_final_answer"] is not None:
        assert last.removeprefix("TASK_COMPLETE -> ANSWER:").strip() == document["agent_final_answer"]
    return document


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def episode(id: str, store: RunStore, **fields: Any) -> Trajectory:
    """A click that works, two calls of which one fails, a call that nobody understands, and the answer."""
    screens = [page_image(store.images, 40 + k) for k in range(4)]
    turns = [
        turn(screens[0], [call("click", x=500, y=250)], "The menu."),
        turn(
            screens[1],
            [call("write", text="red\nkettle"), call("click", x=0, y=1000)],
            "Search.",
            feedback=[Feedback(ok=True, text="Typed."), Feedback(ok=False, text="Nothing there.")],
        ),
        turn(screens[2], [call("fly")], "Hm.", feedback=[Feedback(ok=False, text="unknown tool")]),
        turn(
            screens[3], [call("goto_url", url="https://www.example.com/k"), call("done", answer="The\n red one")], "Go."
        ),
    ]
    made = trajectory(id, store.images, turns=turns, answer="The\n red one", **fields)
    made.task, made.final = TASK, observation(page_image(store.images, 99), "https://www.example.com/k")
    return made


def made_and_exported(folder: Path, make: Any, runs: int = 1) -> dict[str, int]:
    recipe = RECIPE.replace("  runs: 1\n", f"  runs: {runs}\n")
    with RunStore.create(folder / "run", recipe, {}) as store:
        for each in make(store):
            store.add_trajectory(each, "eval", 0)
        return dict(export(store, folder / "out", lambda: None))


def test_an_episode_is_a_folder_that_keeps_the_schemas_rules(tmp_path: Path) -> None:
    assert made_and_exported(tmp_path, lambda store: [episode("a", store)]) == {"": 1}
    document = check(tmp_path / "out" / NAME)
    steps = document["action_history"]
    assert [step["action"] for step in steps] == [
        "CLICK coords(160, 64) -> click | SUCCESS",
        "TYPE :focus -> clear the field and type 'red\\nkettle' | SUCCESS",
        "CLICK coords(0, 256) -> click | FAILED",
        "page -> NAVIGATE -> open an address | SUCCESS",
        "TASK_COMPLETE -> ANSWER: The red one",
    ]
    assert [step["thought"] for step in steps] == ["The menu.", "Search.", None, "Go.", None]
    assert steps[3]["url"] == "https://www.example.com/k"
    assert (document["task"], document["reference_length"]) == ("Find a kettle", 6)
    folder = tmp_path / "out" / NAME / "trajectory"
    shown = [(folder / step["screenshot"]).read_bytes() for step in steps]
    assert shown[1] == shown[2], "two calls of one turn have seen the same screen"
    assert len({*shown}) == 4, "the last one is the screen at the end"


def test_the_answer_is_no_action(tmp_path: Path) -> None:
    made_and_exported(tmp_path, lambda store: [episode("a", store)])
    steps = check(tmp_path / "out" / NAME)["action_history"]
    assert not any("red one" in step["action"] for step in steps[:-1])


def test_an_episode_without_an_answer_ends_all_the_same(tmp_path: Path) -> None:
    def make(store: RunStore) -> list[Trajectory]:
        cut = episode("a", store)
        cut.turns, cut.answer, cut.final, cut.termination = cut.turns[:1], None, None, Termination.MAX_STEPS
        return [cut]

    made_and_exported(tmp_path, make)
    document = check(tmp_path / "out" / NAME)
    assert document["agent_final_answer"] is None
    assert document["action_history"][-1]["action"] == "TASK_COMPLETE -> ANSWER:"


def test_what_never_saw_a_screen_is_left_out_and_counted(tmp_path: Path) -> None:
    def make(store: RunStore) -> list[Trajectory]:
        lost = episode("a", store)
        lost.turns, lost.final, lost.termination = [], None, Termination.START_ERROR
        return [lost]

    assert made_and_exported(tmp_path, make) == {NO_SCREEN: 1}


def test_several_runs_are_folders_of_their_own(tmp_path: Path) -> None:
    def make(store: RunStore) -> list[Trajectory]:
        return [episode("b", store, seed="0/t/2"), episode("a", store, seed="0/t/1")]

    assert made_and_exported(tmp_path, make, runs=2) == {"": 2}
    for number in (1, 2):
        check(tmp_path / "out" / f"run-{number}" / NAME)


def test_secrets_are_masked(tmp_path: Path) -> None:
    made_and_exported(tmp_path, lambda store: [episode("a", store, secrets=["kettle"])])
    text = (tmp_path / "out" / NAME / "result.json").read_text()
    assert "kettle" not in text and "***" in text


def test_other_tasks_and_a_folder_that_is_there_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    def make(store: RunStore) -> list[Trajectory]:
        other = episode("a", store)
        other.task = TASK.model_copy(update={"id": f"{TASK.id}+1y"})
        return [other]

    with pytest.raises(StoreError, match="measure by the recipe online_mind2web"):
        made_and_exported(tmp_path, make)
    assert [each.name for each in tmp_path.iterdir()] == ["run"]
    (tmp_path / "out").mkdir()
    with RunStore.open(tmp_path / "run", readonly=True) as store, pytest.raises(StoreError, match="is there already"):
        export(store, tmp_path / "out", lambda: None)


CALLS = [
    call("click", x=1, y=2, button="right", click_type="double"),
    call("click", element=7),
    call("hover", x=1, y=2),
    call("drag", x1=0, y1=0, x2=1000, y2=1000),
    call("write", text=""),
    call("press_keys", keys=["ctrl+a", "Enter"]),
    call("scroll", direction="down", amount=0.5),
    call("scroll", direction="up", amount=1, x=3, y=4),
    call("goto_url", url="https://a.example/"),
    call("go_back"),
    call("wait", seconds=2),
    call("new_tab"),
    call("switch_tab", index=1),
    call("close_tab"),
]


@pytest.mark.parametrize("given", CALLS, ids=lambda given: given.name)
def test_every_tool_has_words_in_the_benchmarks_grammar(given: ToolCall) -> None:
    assert check_call(given) is None
    assert GRAMMAR.fullmatch(action_of(given, (1280, 720)).text("SUCCESS"))


def test_no_tool_is_forgotten() -> None:
    assert {each.name for each in CALLS} == TOOLS.keys() - {"done"}
