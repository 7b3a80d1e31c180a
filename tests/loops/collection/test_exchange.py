"""Data sets go to other trainers, which read them, and come back: trajectory by trajectory and byte by byte."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as parquet
import pytest
from trl.data_utils import is_conversational, prepare_multimodal_messages

from tests.loops.collection.comparing import content
from webdojo.errors import StoreError
from webdojo.loops.collection import Format
from webdojo.loops.collection.dataset import open_dataset, read_manifest
from webdojo.loops.collection.exchange import export_dataset, import_dataset
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.store.run import RunStore
from webdojo.types import Judgement, Turn


def pictures(folder: Path) -> dict[str, bytes]:
    """All screenshots of a data set by their hash."""
    with open_dataset(folder) as dataset:
        shown = [each for trajectory in dataset.trajectories() for each in trajectory.turns]
        finals = [t.final.screenshot for t in dataset.trajectories() if t.final is not None]
        found = {image.sha: image for turn in shown for image in (*turn.prompt.images, turn.observation.screenshot)}
        found |= {image.sha: image for image in finals}
        return {sha: dataset.images.get(image) for sha, image in found.items()}


@pytest.mark.parametrize("form", Format)
def test_what_goes_out_comes_back_equal(form: Format, erring: Path, tmp_path: Path) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    assert export_dataset(erring, out, form) == {"": len(content(erring))}
    assert import_dataset(out, back) == read_manifest(erring)
    assert content(back) == content(erring)
    assert pictures(back) == pictures(erring)
    with RunStore.open(back, readonly=True) as theirs, RunStore.open(erring, readonly=True) as ours:
        assert theirs.recipe_yaml == ours.recipe_yaml and theirs.info == ours.info
    with pytest.raises(StoreError, match="is there already"):
        export_dataset(erring, out, form)


@pytest.mark.parametrize("file", ["trl/metadata.jsonl", "llamafactory/train.jsonl"])
def test_rows_come_back_in_any_order_and_without_those_that_were_taken_out(
    file: str, erring: Path, tmp_path: Path
) -> None:
    form = file.partition("/")[0]
    export_dataset(erring, tmp_path / form, Format(form))
    lines = (tmp_path / file).read_text().splitlines(keepends=True)
    random.Random(2).shuffle(lines)
    out, gone = json.loads(lines[0]), json.loads(lines[1])["id"]
    (tmp_path / file).write_text("".join(line for line in lines[1:] if json.loads(line)["id"] != gone))
    import_dataset(tmp_path / form, tmp_path / "back")
    wanted = [each for each in content(erring) if each["id"] != gone]
    for each in wanted:
        if each["id"] == out["id"]:
            del each["turns"][out["step"]]
    assert content(tmp_path / "back") == [each for each in wanted if each["turns"]]


def test_a_screenshot_that_is_not_the_one_of_its_row_does_not_come_back(erring: Path, tmp_path: Path) -> None:
    export_dataset(erring, tmp_path / "out", Format.trl)
    image = next((tmp_path / "out" / "images").glob("*/*.jpg"))
    image.write_bytes(image.read_bytes()[:-2])
    with pytest.raises(StoreError, match="lacks screenshots of"):
        import_dataset(tmp_path / "out", tmp_path / "back")
    with pytest.raises(StoreError, match="was not written by `webdojo data export`"):
        import_dataset(tmp_path, tmp_path / "back")
    assert not (tmp_path / "back").exists() and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("form", Format)
def test_the_judges_and_the_final_screens_come_back_with_any_row(form: Format, erring: Path, tmp_path: Path) -> None:
    """Of a trajectory that curation has cut, and whose last row was taken out of the export."""
    ours, out, back = tmp_path / "ours", tmp_path / "out", tmp_path / "back"
    shutil.copytree(erring, ours)
    with RunStore.open(ours) as store:
        id = max(store.rows(), key=lambda row: row.steps * bool(row.valid)).id
        one = store.trajectory(id)
        seen, lost = b"only the judge saw this", b"nobody has kept this"
        assert one.reward is not None and one.final is not None and len(one.turns) > 2
        shown = [store.images.put(data, 8, 8, "image/jpeg") for data in (seen, lost)]
        store.images.path(shown[1]).unlink()
        one.reward.judgements = [Judgement(step="verdict", prompt="?", answer="SUCCESS", images=shown)]
        one.turns = one.turns[:-1]
        store.replace_trajectory(one, "collect", 0)
        final = one.final.screenshot
    export_dataset(ours, out, form)
    if form in (Format.trl, Format.llamafactory):
        file = out / ("metadata.jsonl" if form is Format.trl else "train.jsonl")
        lines = file.read_text().splitlines(keepends=True)
        gone = len(one.turns) - 1
        kept = [line for line in lines if (json.loads(line)["id"], json.loads(line)["step"]) != (id, gone)]
        file.write_text("".join(kept))
    import_dataset(out, back)
    with open_dataset(back) as dataset:
        assert [dataset.images.has(image) for image in (final, *shown)] == [True, True, False]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda line: b"\n", "it cannot be read: Expecting value"),
        (lambda line: line[: len(line) // 2], "it cannot be read: Unterminated string"),
        (lambda line: b"\xff\n", "it cannot be read: 'utf-8' codec"),
        (lambda line: b"[]\n", "it cannot be read: list indices"),
        (lambda line: changed(line, turn=None), r"it is no valid Turn: : JSON input should be string"),
        (lambda line: changed(line, step=None), "it cannot be read: int"),
        (lambda line: changed(line, episode="{}"), r"it is no valid Trajectory: id: Field required"),
        (lambda line: line.replace(b'"turn":', b'"other":'), "it has no column 'turn'"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(
    spoil: Callable[[bytes], bytes], problem: str, erring: Path, tmp_path: Path
) -> None:
    export_dataset(erring, tmp_path / "out", Format.trl)
    file = tmp_path / "out" / "metadata.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)[:2]
    file.write_bytes(lines[0] + spoil(lines[1]))
    with pytest.raises(StoreError, match=rf"^{file}, row 2: {problem}"):
        import_dataset(tmp_path / "out", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def changed(line: bytes, **columns: Any) -> bytes:
    return json.dumps(json.loads(line) | columns).encode()


def test_a_row_of_a_table_that_cannot_be_read_is_named(erring: Path, tmp_path: Path) -> None:
    export_dataset(erring, tmp_path / "out", Format.parquet)
    file = tmp_path / "out" / "train.parquet"
    table = parquet.read_table(file)
    parquet.write_table(table.drop_columns(["other_images"]), file)
    with pytest.raises(StoreError, match=rf"^{file}, row 1: it has no column 'other_images'"):
        import_dataset(tmp_path / "out", tmp_path / "back")
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(StoreError, match=rf"^{file} cannot be read: "):
        import_dataset(tmp_path / "out", tmp_path / "back")


def test_documents_of_atif_go_to_harbor_and_come_back_without_the_steps_that_were_dropped(
    erring: Path, tmp_path: Path
) -> None:
    """What curation has dropped at the start of an episode is context there, and no turn here."""
    cut, out, back = tmp_path / "cut", tmp_path / "out", tmp_path / "back"
    shutil.copytree(erring, cut)
    with RunStore.open(cut) as store:
        id = max(store.rows(), key=lambda row: row.steps).id
        one = store.trajectory(id)
        one.turns = one.turns[2:]
        store.replace_trajectory(one, "collect", 0)
    export_dataset(cut, out, Format.atif)
    documents = {file: json.loads(file.read_bytes()) for file in out.glob("*.atif.json")}
    (steps,) = (each["steps"] for each in documents.values() if each["trajectory_id"] == id)
    copied = [step["source"] for step in steps if step.get("is_copied_context")]
    assert copied == ["agent", "user", "agent", "user"]
    assert sum(step["source"] == "agent" for step in steps) == 2 + len(one.turns)
    import_dataset(out, back)
    assert content(back) == content(cut)
    validator = pytest.importorskip("harbor.utils.trajectory_validator").TrajectoryValidator()
    assert all(validator.validate(file) for file in documents), validator.errors


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda made: [], "it cannot be read: list indices"),
        (lambda made: {"schema_version": "ATIF-v1.8"}, "it has no field 'steps'"),
        (lambda made: made | {"extra": {}}, r"it cannot be read: .* extra\.webdojo is missing"),
        (lambda made: resampled(made, "prompt_token_ids"), "it cannot be read: step [23]: prompt_token_ids has 1 ids"),
        (
            lambda made: resampled(made, "completion_token_ids"),
            "it cannot be read: step [23]: its completion_token_ids",
        ),
    ],
)
def test_a_document_that_cannot_be_read_is_named(
    spoil: Callable[[Any], Any], problem: str, erring: Path, tmp_path: Path
) -> None:
    export_dataset(erring, tmp_path / "out", Format.atif)
    file = tmp_path / "out" / "00001.atif.json"
    file.write_text(json.dumps(spoil(json.loads(file.read_bytes()))))
    with pytest.raises(StoreError, match=rf"^{file}: {problem}"):
        import_dataset(tmp_path / "out", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def resampled(document: dict[str, Any], name: str) -> dict[str, Any]:
    """With a single token in the first turn."""
    step = next(step for step in document["steps"] if step["source"] == "agent")
    step["metrics"][name] = [7]
    return document


@pytest.mark.parametrize("gone", ["webdojo/info.json", "webdojo/recipe.yaml", "metadata.jsonl"])
def test_an_export_that_lacks_a_file_is_refused(gone: str, erring: Path, tmp_path: Path) -> None:
    export_dataset(erring, tmp_path / "out", Format.trl)
    (tmp_path / "out" / gone).unlink()
    with pytest.raises(StoreError, match=rf"has no (?:{gone}|rows: neither {gone})"):
        import_dataset(tmp_path / "out", tmp_path / "back")


def as_chatml(messages: list[dict[str, Any]], images: list[Any], codec: Processor) -> str:
    """What the chat template of the model makes of messages in which TRL has put the images."""
    left = iter(images)

    def said(part: dict[str, Any]) -> str:
        if part["type"] == "text":
            return str(part["text"])
        assert part["image"] is next(left)
        return f"<|vision_start|>{'<|image_pad|>' * codec.image_tokens(*part['image'].size)}<|vision_end|>"

    return "".join(f"<|im_start|>{m['role']}\n{''.join(map(said, m['content']))}<|im_end|>\n" for m in messages)


@pytest.mark.parametrize("form", [Format.trl, Format.parquet, Format.datasets])
def test_trl_reads_in_each_row_what_the_agent_saw_and_said(
    form: Format, erring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRL's dataset type is "prompt-completion, conversational, with images"; its collator fills in the images so."""
    monkeypatch.chdir(tmp_path)  # paths of images do not depend on it
    export_dataset(erring, tmp_path / "out", form)
    codec, cache = Processor.load(model_folder("tiny")), str(tmp_path / "cache")
    if form is Format.datasets:
        rows = datasets.load_from_disk(str(tmp_path / "out"))
    elif form is Format.parquet:
        file = str(tmp_path / "out" / "train.parquet")
        rows = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=cache)
    else:
        rows = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=cache)
    assert len(rows) == read_manifest(erring).counts.steps
    for row in rows:
        assert is_conversational(row)
        turn = Turn.model_validate_json(row["turn"])
        messages = prepare_multimodal_messages(row["prompt"], row["images"])
        messages += prepare_multimodal_messages(row["completion"], [])
        text = as_chatml(messages, row["images"], codec)
        ids = turn.prompt.ids(codec.image_token_id) + turn.response.ids
        assert text == codec.decode(ids).removesuffix("<|im_end|>") + "<|im_end|>\n"
        (answer,) = row["completion"]
        assert answer["role"] == "assistant" and turn.text.removesuffix("<|im_end|>") in answer["content"][0]["text"]


def test_llama_factory_finds_its_documented_format(erring: Path, tmp_path: Path) -> None:
    """data/README.md of LLaMA-Factory: ShareGPT's format in OpenAI's words, with a tag for each image."""
    out = tmp_path / "out"
    export_dataset(erring, out, Format.llamafactory)
    described = json.loads((out / "dataset_info.json").read_text())["webdojo"]
    assert described["formatting"] == "sharegpt"
    columns, tags = described["columns"], described["tags"]
    rows = [json.loads(line) for line in (out / described["file_name"]).read_text().splitlines()]
    assert len(rows) == read_manifest(erring).counts.steps
    for row in rows:
        messages = row[columns["messages"]]
        if messages[0][tags["role_tag"]] == tags["system_tag"]:
            messages = messages[1:]
        roles = [message[tags["role_tag"]] for message in messages]
        assert roles == [tags["user_tag"], tags["assistant_tag"]] * (len(roles) // 2), "users first, in turns, in pairs"
        texts = [message[tags["content_tag"]] for message in row[columns["messages"]]]
        assert all(isinstance(text, str) for text in texts)
        images = row[columns["images"]]
        assert sum(text.count("<image>") for text in texts) == len(images) > 0
        for image in images:  # paths below `media_dir`, which is the folder itself unless another is named
            with io.BytesIO((out / image).read_bytes()) as data:
                assert data.read(2) == b"\xff\xd8"
        assert re.search(r"<think>.*</think>", texts[-1], re.DOTALL)
