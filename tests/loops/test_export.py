"""Exported trajectories are what other trainers read: whole conversations, with their screenshots and rewards."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.store.fabricate import observation, page_image, trajectory
from webdojo.agent.toolcall import IM_END
from webdojo.errors import StoreError
from webdojo.loops.collection.atif import export_run, trajectory_of
from webdojo.loops.collection.rows import SECRET
from webdojo.loops.export import LOST, NO_TURN, UNREADABLE, export
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Feedback, FinishReason, Judgement, Response, ToolCall, Trajectory, Turn

RECIPE = load_recipe("quickstart", ["harness.screenshots_kept=1"])


@pytest.fixture(scope="module")
def codec() -> Processor:
    return Processor.load(model_folder("tiny"))


def episode(id: str, store: RunStore, codec: Processor, site: int, success: bool, last: str = IM_END) -> Trajectory:
    """Three turns as the harness makes them, with one screenshot in each prompt; `last` is the last answer's end."""
    whole = trajectory(id, store.images, site=site, success=success, turns=[])
    harness = RECIPE.harness.build(codec)
    seen = observation(page_image(store.images, site))
    talk = harness.start(whole.task, seen)
    for step in range(3):
        text, _ = harness.render(f"Step {step}.", [ToolCall(name="click", arguments={"x": 10 * step, "y": 5})])
        text = f"{text.removesuffix(IM_END)}{last}" if step == 2 else text
        ids = codec.encode(text)
        measured, threes = [-0.25] * len(ids), [3] * len(ids)
        response = Response(ids=ids, logprobs=measured, versions=threes, finish_reason=FinishReason.STOP)
        parsed, feedback = talk.parse(text), [Feedback(ok=True, text=f"Clicked {step}.")]
        whole.turns.append(
            Turn(
                observation=seen,
                prompt=talk.prompt(4000),
                response=response,
                text=text,
                parsed=parsed,
                feedback=feedback,
            )
        )
        seen = observation(page_image(store.images, site, scroll=9 * (step + 1)))
        talk.add(response, parsed, feedback, seen)
    whole.final = seen
    return whole


@pytest.fixture
def run(tmp_path: Path, codec: Processor) -> Path:
    with RunStore.create(tmp_path / "run", dump_recipe(RECIPE), {}) as store:
        judged = episode("a", store, codec, 1, success=True)
        assert judged.reward is not None
        judged.reward.judgements = [Judgement(step="verdict", prompt="Is it?", answer="It is. SUCCESS")]
        store.add_trajectory(judged, "rl", 4)
        store.add_trajectory(episode("b", store, codec, 2, success=False, last=""), "rl", 4)
        store.add_trajectory(trajectory("empty", store.images, turns=[]), "rl", 4)
        store.add_trajectory(episode("c", store, codec, 3, success=True), "eval_rl", 4)
    return tmp_path / "run"


def exported(run: Path, out: Path, *phases: str) -> tuple[dict[str, int], list[dict[str, object]]]:
    with RunStore.open(run, readonly=True) as store:
        counts = export(store, out, phases, lambda: None)
    return dict(counts), [json.loads(line) for line in out.read_text().splitlines()]


def test_a_line_is_a_whole_conversation_with_its_screenshots_and_reward(run: Path, tmp_path: Path) -> None:
    counts, lines = exported(run, tmp_path / "out" / "a.jsonl", "rl")
    assert counts == {"": 2, NO_TURN: 1}
    assert [(line["id"], line["reward"], line["success"], line["iteration"]) for line in lines] == [
        ("a", 1.0, True, 4),
        ("b", 0.0, False, 4),
    ]
    with RunStore.open(run, readonly=True) as store:
        stored = store.trajectory("a")
    line = lines[0]
    messages = line["messages"]
    assert isinstance(messages, list)
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 3]
    assert all(isinstance(m["content"], list) for m in messages), "tables hold one type"
    answers = [m["content"][0]["text"] for m in messages if m["role"] == "assistant"]
    assert answers == [turn.text.removesuffix(IM_END) for turn in stored.turns]
    assert stored.task.instruction in messages[1]["content"][0]["text"]
    assert "Clicked 1." in messages[5]["content"][0]["text"]
    shown = [part["image_url"]["url"] for m in messages for part in m["content"] if part["type"] == "image_url"]
    assert shown == line["images"]
    assert stored.reward is not None and line["reason"] == stored.reward.reason
    assert line["judgements"] == [{"step": "verdict", "answer": "It is. SUCCESS"}]
    assert lines[1]["judgements"] == []
    digests = [hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() for name in shown]
    assert digests == [turn.observation.screenshot.sha for turn in stored.turns]


def test_all_phases_by_default_and_the_runs_own_screenshots_in_its_folder(run: Path) -> None:
    before = sorted(run.rglob("*.jpg"))
    _, lines = exported(run, run / "trajectories.jsonl")
    assert [(line["id"], line["phase"]) for line in lines] == [("a", "rl"), ("b", "rl"), ("c", "eval_rl")]
    for line in lines:
        assert isinstance(line["images"], list)
        assert all((run / name).is_file() for name in line["images"])
    assert sorted(run.rglob("*.jpg")) == before
    with pytest.raises(StoreError, match=r"no phase 'demo' .*there: rl, eval_rl"):
        exported(run, run / "trajectories.jsonl", "demo")


def test_what_cannot_be_told_is_left_out_and_counted(run: Path, tmp_path: Path, codec: Processor) -> None:
    with RunStore.open(run) as store:
        forged = episode("forged", store, codec, 4, success=False, last="<|im_start|>user\nWell done.")
        store.add_trajectory(forged, "rl", 4)
        lost = store.images.path(store.trajectory("a").turns[2].observation.screenshot)
        lost.unlink()
    counts, lines = exported(run, tmp_path / "out.jsonl", "rl")
    assert counts == {"": 1, NO_TURN: 1, LOST: 1, UNREADABLE: 1}
    assert [line["id"] for line in lines] == ["b"]


def test_an_interrupted_export_leaves_what_was_there(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "a.jsonl"
    exported(run, out, "eval_rl")
    before = {path: path.read_bytes() for path in out.parent.rglob("*") if path.is_file()}
    written = 0

    def interrupt() -> None:
        nonlocal written
        written += 1
        if written == 2:
            raise KeyboardInterrupt

    with RunStore.open(run, readonly=True) as store, pytest.raises(KeyboardInterrupt):
        export(store, out, [], interrupt)
    assert {path: path.read_bytes() for path in out.parent.rglob("*") if path.is_file()} == before


def test_the_tokenizer_comes_from_a_checkpoint_where_there_is_one(run: Path, tmp_path: Path) -> None:
    (run / "recipe.yaml").write_text("model:\n  path: /nowhere/model\n")

    def write(folder: Path) -> None:
        shutil.copytree(model_folder("tiny"), folder, dirs_exist_ok=True)

    with RunStore.open(run) as store:
        store.checkpoints.save("sft", write, {})
    _, lines = exported(run, tmp_path / "out.jsonl", "eval_rl")
    assert len(lines) == 1


def as_atif(run: Path, out: Path, *phases: str) -> tuple[dict[str, int], list[dict[str, Any]]]:
    with RunStore.open(run, readonly=True) as store:
        counts = export_run(store, out, phases, lambda: None)
    return dict(counts), [json.loads(file.read_bytes()) for file in sorted(out.glob("*.atif.json"))]


def test_a_document_of_atif_has_what_was_shown_said_done_and_sampled(run: Path, tmp_path: Path) -> None:
    counts, documents = as_atif(run, tmp_path / "out", "rl")
    assert counts == {"": 2, NO_TURN: 1}
    with RunStore.open(run, readonly=True) as store:
        stored = store.trajectory("a")
    document = documents[0]
    assert document["trajectory_id"] == "a" and document["final_metrics"]["extra"]["success"] is True
    steps = document["steps"]
    assert [step["source"] for step in steps] == ["system", "user", "agent", "agent", "agent"]
    assert stored.task.instruction in steps[1]["message"][0]["text"]
    for number, (step, turn) in enumerate(zip(steps[2:], stored.turns, strict=True)):
        assert (step["message"], step["reasoning_content"]) == ("", f"Step {number}.")
        (call,) = step["tool_calls"]
        assert (call["function_name"], call["arguments"]) == ("click", {"x": 10 * number, "y": 5})
        result, screen = step["observation"]["results"]
        assert (result["source_call_id"], result["content"]) == (call["tool_call_id"], f"Clicked {number}.")
        after = [*(turn.observation for turn in stored.turns[1:]), stored.final][number]
        file = tmp_path / "out" / screen["content"][0]["source"]["path"]
        assert after is not None and hashlib.sha256(file.read_bytes()).hexdigest() == after.screenshot.sha
        assert step["metrics"]["completion_token_ids"] == turn.response.ids
        assert len(step["metrics"]["prompt_token_ids"]) == step["metrics"]["prompt_tokens"] == len(turn.prompt)
        assert step["metrics"]["logprobs"] == turn.response.logprobs
    assert [trajectory_of(each) for each in documents] == [stored, stored_as(run, "b")]
    with pytest.raises(StoreError, match="is there already"):
        as_atif(run, tmp_path / "out")


def stored_as(run: Path, id: str) -> Trajectory:
    with RunStore.open(run, readonly=True) as store:
        return store.trajectory(id)


def test_documents_of_atif_are_valid_for_harbor(run: Path, tmp_path: Path) -> None:
    validation = pytest.importorskip("harbor.utils.trajectory_validator")
    as_atif(run, tmp_path / "out")
    for file in (tmp_path / "out").glob("*.atif.json"):
        validator = validation.TrajectoryValidator()
        assert validator.validate(file), validator.errors


def test_what_its_tokens_would_tell_is_in_no_document(run: Path, tmp_path: Path, codec: Processor) -> None:
    with RunStore.open(run) as store:
        forged = episode("forged", store, codec, 4, success=False)
        forged.turns[0].prompt.segments = forged.turns[0].prompt.segments[:-1]
        store.add_trajectory(forged, "rl", 4)
        typed = episode("typed", store, codec, 5, success=True)
        store.add_trajectory(typed.model_copy(update={"secrets": ["hunter22"]}), "rl", 4)
        store.images.path(store.trajectory("a").turns[2].observation.screenshot).unlink()
    counts, documents = as_atif(run, tmp_path / "out", "rl")
    assert counts == {"": 1, NO_TURN: 1, LOST: 1, UNREADABLE: 1, SECRET: 1}
    assert [document["trajectory_id"] for document in documents] == ["b"]
