"""The vLLM engine against servers that speak vLLM's API: real processes, signals and HTTP, no model."""

from __future__ import annotations

import asyncio
import base64
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import pytest_asyncio
import torch
from PIL import Image
from transformers import PreTrainedModel

from tests.policy.conftest import Images, chat
from tests.policy.vllm.server_double import CALLS, IMAGE_PAD, PROBE_LOGPROB, vllm_package
from webdojo.errors import ConfigError, EngineError, EngineLost, EngineTimeout
from webdojo.policy.config import ModelConfig
from webdojo.policy.engine import ServedModel, VLLMConfig
from webdojo.policy.model.processor import Processor
from webdojo.policy.vllm.engine import VLLMEngine
from webdojo.policy.vllm.server import free_port, serve_command, server_env
from webdojo.recipe import load_recipe
from webdojo.types import FinishReason, Prompt, Response, Sampling

ROOT = Path(__file__).parents[3]
CPU = torch.device("cpu")
SHORT = Sampling(max_tokens=3)
LONG = Sampling(max_tokens=400)
ENDLESS = Sampling(max_tokens=100_000)

MakeEngine = Callable[..., VLLMEngine]
Loaded = tuple[PreTrainedModel, Processor]


@pytest.fixture
def calls_file(tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the double the `vllm` that servers find, and tells where it writes what it was asked."""
    vllm_package(tmp_path / "site")
    path = [str(tmp_path / "site"), str(ROOT), str(ROOT / "src")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    monkeypatch.setenv(CALLS, str(tmp_path / "calls.jsonl"))
    monkeypatch.setenv(IMAGE_PAD, str(Processor.load(model_dir).image_token_id))
    (tmp_path / "calls.jsonl").touch()
    return tmp_path / "calls.jsonl"


@pytest_asyncio.fixture
async def make_engine(calls_file: Path, model_dir: Path, images: Images) -> AsyncIterator[MakeEngine]:
    made: list[VLLMEngine] = []

    def make(version: int = 0, **config: Any) -> VLLMEngine:
        options = VLLMConfig(**{"start_timeout_s": 60, **config})
        model = ServedModel(str(model_dir), ModelConfig(device="cpu"), images, 512, seed=1, version=version)
        engine = VLLMEngine(model, options)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        await engine.aclose()


def calls(file: Path, *names: str) -> list[dict[str, Any]]:
    """What servers were asked, of these names or of all; without the check of log-probabilities."""
    noted = [json.loads(line) for line in file.read_text().splitlines()]
    asked = [c for c in noted if c["call"] != "generate" or c["body"]["sampling_params"].get("top_k") != 1]
    return [c for c in asked if not names or c["call"] in names]


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError


def ask(engine: VLLMEngine, images: Images) -> Prompt:
    return chat(engine.processor, "find the red mug", images.random(1), images.random(2, 96, 64))


def pid_of(engine: VLLMEngine, index: int = 0) -> int:
    process = engine.replicas[index].server.process
    assert process is not None
    return process.pid


def is_running(pid: int) -> bool:
    """False for a process that has ended, also where nobody has asked how."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def test_a_response_names_the_version_that_the_server_was_started_with(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine(version=5)
    assert engine.health().alive
    prompt = ask(engine, images)
    response = await engine.generate(prompt, SHORT)
    assert response.ids == [100, 101, 102]
    assert response.versions == [5, 5, 5]
    assert response.finish_reason is FinishReason.LENGTH
    assert 0 <= response.seconds["queue"] <= response.seconds["total"]
    (sent,) = calls(calls_file, "generate")
    assert len(sent["body"]["token_ids"]) == len(prompt) - 4 - 6 + 2
    assert {part["uuid"] for part in sent["body"]["content_parts"]} == {image.sha for image in prompt.images}
    bias = sent["body"]["sampling_params"]["logit_bias"]
    banned = engine.processor.banned(engine.processor.vocab_size + 7).nonzero().flatten().tolist()
    assert set(bias) == set(map(str, banned))


async def test_images_are_sent_at_the_size_that_the_learner_reads(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine()
    odd = images.random(1, 104, 72)
    assert len((await engine.generate(chat(engine.processor, "odd", odd), SHORT)).ids) == 3
    (sent,) = calls(calls_file, "generate")
    (part,) = sent["body"]["content_parts"]
    assert part["uuid"] == odd.sha
    shown = Image.open(io.BytesIO(base64.b64decode(part["url"].partition(",")[2])))
    assert shown.size == (96, 64)
    learned, _ = engine.processor.pixels(images.get(odd))
    assert torch.equal(engine.processor.patchify(np.asarray(shown))[0], learned)


async def test_seeds_follow_from_the_engine_the_version_and_how_often_it_was_asked(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine()
    prompt = ask(engine, images)
    for sampling in (SHORT, SHORT, Sampling(max_tokens=3, seed=11)):
        await engine.generate(prompt, sampling)
    other = make_engine()
    await other.generate(prompt, SHORT)
    first, second, given, again = (c["body"]["sampling_params"]["seed"] for c in calls(calls_file, "generate"))
    assert first == again != second
    assert given == 11


async def test_new_weights_reach_the_server_while_a_request_runs(
    make_engine: MakeEngine, images: Images, calls_file: Path, loaded: Loaded
) -> None:
    engine = make_engine(version=3)
    running = asyncio.create_task(engine.generate(ask(engine, images), LONG))
    await until(lambda: bool(calls(calls_file, "sampled")))
    before = len(calls(calls_file))
    state = loaded[0].state_dict()
    await engine.update_weights(state, 4)
    response = await running
    assert sorted(set(response.versions)) == [3, 4]
    assert response.versions == sorted(response.versions)
    assert [c["call"] for c in calls(calls_file)[before:]] == [
        *("pause", "start_weight_update", "update_weights", "loaded", "finish_weight_update"),
        *("reset_prefix_cache", "reset_encoder_cache", "resume"),
    ]
    assert [c["query"] for c in calls(calls_file, "pause", "reset_prefix_cache")] == [
        "mode=keep&clear_cache=false",
        "reset_running_requests=true",
    ]
    (read,) = calls(calls_file, "loaded")
    assert set(read["names"]) == set(state) - {"lm_head.weight"}, "tied weights are written once"
    assert engine.version == engine.health().version == 4

    folder = Path(calls(calls_file, "update_weights")[-1]["body"]["update_info"]["folder"])
    assert folder.is_dir()
    await engine.update_weights(state, 5)
    assert not folder.exists(), "weights that nobody serves fill the disk"
    assert (await engine.generate(ask(engine, images), SHORT)).versions == [5, 5, 5]


async def test_weights_that_do_not_fit_never_reach_a_server(
    make_engine: MakeEngine, images: Images, calls_file: Path, loaded: Loaded
) -> None:
    engine = make_engine(version=3)
    await engine.generate(ask(engine, images), SHORT)
    before = len(calls(calls_file))
    state = dict(loaded[0].state_dict())
    norm = state.pop("model.language_model.norm.weight")
    with pytest.raises(EngineError, match=r"version 4 do not fit: 'model\.language_model\.norm\.weight' is missing"):
        await engine.update_weights(state, 4)
    with pytest.raises(EngineError, match=r"has shape \(65,\), the model has \(64,\)"):
        await engine.update_weights(state | {"model.language_model.norm.weight": torch.zeros(65)}, 4)
    with pytest.raises(EngineError, match=r"'extra' is not in the model"):
        await engine.update_weights(state | {"model.language_model.norm.weight": norm, "extra": norm}, 4)
    assert len(calls(calls_file)) == before
    assert engine.version == 3


async def test_a_cancelled_caller_aborts_on_the_server(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine()
    task = asyncio.create_task(engine.generate(ask(engine, images), ENDLESS))
    await until(lambda: bool(calls(calls_file, "generate")))
    assert engine.health().running == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: bool(calls(calls_file, "aborted")))
    assert engine.health().running == 0


async def test_a_response_that_takes_too_long_is_aborted_and_is_the_engines_fault(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine()
    prompt = ask(engine, images)
    endless = asyncio.create_task(engine.generate(prompt, ENDLESS.model_copy(update={"timeout_s": 0.5})))
    done, _ = await asyncio.wait([endless], timeout=10)
    assert done, "it waits for ever"
    with pytest.raises(EngineTimeout, match=r"vLLM gave no response within 0\.5 s"):
        await endless
    await until(lambda: bool(calls(calls_file, "aborted")))
    assert engine.health().running == 0
    # Neither the start of a server that died counts, nor a sleep.
    os.kill(pid_of(engine), signal.SIGKILL)
    hurried = SHORT.model_copy(update={"timeout_s": 0.5})
    with pytest.raises(EngineLost):
        await engine.generate(prompt, SHORT)
    assert (await engine.generate(prompt, hurried)).ids == [100, 101, 102]


async def test_a_request_that_sleeps_with_its_server_is_in_time(make_engine: MakeEngine, images: Images) -> None:
    engine = make_engine(enable_sleep_mode=True)
    await engine.generate(ask(engine, images), SHORT)
    await engine.sleep()
    waiting = asyncio.create_task(engine.generate(ask(engine, images), SHORT.model_copy(update={"timeout_s": 0.5})))
    await asyncio.sleep(1)
    assert not waiting.done()
    await engine.wake_up()
    assert (await waiting).ids == [100, 101, 102]


async def test_health_tells_apart_what_runs_and_what_waits_in_the_servers_queue(
    make_engine: MakeEngine, images: Images, calls_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webdojo.policy.vllm.replica._LOOK_EVERY_S", 0)
    engine = make_engine()
    prompt = ask(engine, images)
    asked = [asyncio.create_task(engine.generate(prompt, ENDLESS)) for _ in range(5)]
    await until(lambda: len(calls(calls_file, "generate")) == 5)
    await engine.generate(prompt, SHORT)
    await until(lambda: engine.health().waiting >= 3)  # 4 if the sixth was there when the server was asked
    assert engine.health().running == 5 - engine.health().waiting
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert engine.health().waiting == 0, "what is answered waits no more, whatever the server said before"


async def test_a_killed_server_fails_its_requests_and_comes_back_with_the_current_weights(
    make_engine: MakeEngine, images: Images, calls_file: Path, loaded: Loaded
) -> None:
    engine = make_engine()
    await engine.update_weights(loaded[0].state_dict(), 6)
    prompt = ask(engine, images)
    doomed = [asyncio.create_task(engine.generate(prompt, ENDLESS)) for _ in range(3)]
    await until(lambda: len(calls(calls_file, "generate")) == 3)
    first = pid_of(engine)
    os.kill(first, signal.SIGKILL)
    outcomes = await asyncio.gather(*doomed, return_exceptions=True)
    assert all(isinstance(o, EngineError) and "does not answer any more" in str(o) for o in outcomes)
    response = await engine.generate(prompt, SHORT)
    assert response.versions == [6, 6, 6]
    assert pid_of(engine) != first
    assert {c["pid"] for c in calls(calls_file, "pause")} == {first, pid_of(engine)}
    assert engine.health().alive
    assert not engine.health().error

    # It dies idle, and the next to notice is an update.
    os.kill(pid_of(engine), signal.SIGKILL)
    await engine.update_weights(loaded[0].state_dict(), 7)
    assert (await engine.generate(prompt, SHORT)).versions == [7, 7, 7]


async def test_requests_spread_over_replicas_and_one_death_leaves_the_other(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine(replicas=2)
    prompt = ask(engine, images)
    await asyncio.gather(*(engine.generate(prompt, SHORT) for _ in range(4)))
    tasks = [asyncio.create_task(engine.generate(prompt, ENDLESS)) for _ in range(4)]
    await until(lambda: len(calls(calls_file, "generate")) == 8)
    by_server = [c["pid"] for c in calls(calls_file, "generate")[4:]]
    assert sorted(by_server.count(pid_of(engine, k)) for k in range(2)) == [2, 2]
    os.kill(pid_of(engine, 0), signal.SIGKILL)
    await until(lambda: sum(task.done() for task in tasks) == 2)
    survivor = pid_of(engine, 1)
    await engine.generate(prompt, SHORT)
    assert calls(calls_file, "generate")[-1]["pid"] == survivor, "it waited for the dead one's start"
    assert sum(task.done() for task in tasks) == 2, "a request of the other server failed"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_servers_given_by_address_get_the_weights_of_the_model_folder_first(
    make_engine: MakeEngine, images: Images, calls_file: Path, model_dir: Path
) -> None:
    owner = make_engine()
    guest = make_engine(version=2, urls=[owner.replicas[0].server.url])
    assert (await guest.generate(ask(guest, images), SHORT)).versions == [2, 2, 2]
    (update,) = calls(calls_file, "update_weights")
    assert update["body"]["update_info"]["folder"] == str(model_dir)
    guest.close()
    assert (await owner.generate(ask(owner, images), SHORT)).ids, "a guest stopped a server that is not its own"


@pytest.mark.parametrize(("logprob", "message"), [("0", "after top-k and top-p"), ("-9", "raw log-probabilities")])
async def test_a_server_that_scores_otherwise_than_a_learner_is_refused(
    make_engine: MakeEngine, images: Images, monkeypatch: pytest.MonkeyPatch, logprob: str, message: str
) -> None:
    monkeypatch.setenv(PROBE_LOGPROB, logprob)
    engine = make_engine()
    with pytest.raises(EngineError, match=message):
        await engine.generate(ask(engine, images), SHORT)
    assert not engine.health().alive
    assert message in engine.health().error


async def test_sleeping_servers_answer_when_they_wake(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine(enable_sleep_mode=True)
    await engine.generate(ask(engine, images), SHORT)
    await engine.sleep()
    assert calls(calls_file)[-1]["query"] == "level=1&mode=keep"
    waiting = asyncio.create_task(engine.generate(ask(engine, images), SHORT))
    await until(lambda: len(calls(calls_file, "generate")) == 2)
    assert not (await asyncio.wait([waiting], timeout=0.3))[0]
    await engine.wake_up()
    assert (await waiting).ids == [100, 101, 102]
    with pytest.raises(EngineError, match=r"set engine\.enable_sleep_mode"):
        await make_engine().sleep()


@pytest.mark.parametrize("busy", [False, True])
async def test_a_server_that_dies_asleep_is_started_again_when_the_others_wake(
    make_engine: MakeEngine, images: Images, calls_file: Path, busy: bool
) -> None:
    engine = make_engine(enable_sleep_mode=True)
    await engine.generate(ask(engine, images), SHORT)
    await engine.sleep()
    doomed = [asyncio.create_task(engine.generate(ask(engine, images), SHORT)) for _ in range(busy)]
    await until(lambda: len(calls(calls_file, "generate")) == 1 + busy)
    first = pid_of(engine)
    os.kill(first, signal.SIGKILL)
    for outcome in await asyncio.gather(*doomed, return_exceptions=True):
        assert isinstance(outcome, EngineLost)
    waiting = [asyncio.create_task(engine.generate(ask(engine, images), SHORT)) for _ in range(busy)]
    await asyncio.sleep(0.3)
    assert not any(task.done() for task in waiting)
    assert pid_of(engine) == first, "a server started on the memory that the learner has"
    await engine.wake_up()
    for response in [await engine.generate(ask(engine, images), SHORT), *await asyncio.gather(*waiting)]:
        assert response.ids == [100, 101, 102]
    assert pid_of(engine) != first


async def test_close_ends_the_processes_and_what_is_in_flight(
    make_engine: MakeEngine, images: Images, calls_file: Path
) -> None:
    engine = make_engine()
    tasks = [asyncio.create_task(engine.generate(ask(engine, images), ENDLESS)) for _ in range(2)]
    await until(lambda: len(calls(calls_file, "generate")) == 2)
    pid = pid_of(engine)
    engine.close()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(o, EngineError) and "the engine was closed" in str(o) for o in outcomes)
    assert not is_running(pid)
    assert not engine.health().alive
    with pytest.raises(EngineError, match="the engine was closed; start another engine"):
        await engine.generate(ask(engine, images), SHORT)
    with pytest.raises(EngineError, match="the engine was closed"):
        await engine.update_weights({}, 1)


def test_a_server_that_does_not_start_says_why_and_leaves_none_behind(make_engine: MakeEngine) -> None:
    with pytest.raises(EngineError, match=r"ended with status 1 while it started: ValueError: there is no GPU \(its"):
        make_engine(args=["--fail"])
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(
        EngineError, match=rf"no vLLM server answers at {address} after 0\.5 s; raise engine\.start_timeout_s"
    ):
        make_engine(urls=[address], start_timeout_s=0.5)


async def test_a_screenshot_that_is_gone_and_a_refused_request_are_errors_of_their_own(
    make_engine: MakeEngine, images: Images
) -> None:
    engine = make_engine()
    good = ask(engine, images)
    image = images.random(3)
    lost = chat(engine.processor, "x", image.model_copy(update={"sha": "0" * 64}))
    two_pads = Prompt(segments=(*good.segments, *chat(engine.processor, "<|image_pad|>").segments))
    outcomes = await asyncio.gather(
        *(engine.generate(prompt, SHORT) for prompt in (good, lost, two_pads, good)), return_exceptions=True
    )
    assert [type(o) for o in outcomes] == [Response, EngineError, EngineError, Response]
    assert "screenshot 000000000000 cannot be read: KeyError" in str(outcomes[1])
    assert "refuses /inference/v1/generate (HTTP 400)" in str(outcomes[2])


def test_a_server_ends_with_the_process_that_started_it(calls_file: Path, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import sys, time
        from pathlib import Path
        from webdojo.policy.vllm.server import Server
        command = [sys.executable, "-m", "webdojo.policy.vllm.launch", "--port", "{free_port()}"]
        server = Server("http://127.0.0.1:1", 60, command, {{}}, Path("{tmp_path}/log"))
        server.start()
        print(server.process.pid, flush=True)
        time.sleep(600)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(1)
        assert is_running(pid)
        parent.kill()
    for _ in range(300):
        if not is_running(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the server outlived its parent")


def test_the_command_line_has_vllms_own_options() -> None:
    config = VLLMConfig(python="/opt/vllm/bin/python", tensor_parallel_size=2, enable_sleep_mode=True, args=["--x=1"])
    command = serve_command(Path("/model"), config, torch.device("cuda"), torch.bfloat16, 4096, 8000)
    assert command[:3] == ["/opt/vllm/bin/python", "-m", "webdojo.policy.vllm.launch"]
    assert command[-1] == "--x=1"
    options = dict(itertools.pairwise(command))
    assert options["--dtype"] == "bfloat16"
    assert options["--max-model-len"] == "4096"
    assert options["--logprobs-mode"] == "processed_logprobs"
    assert {"--enable-sleep-mode", "--enable-prefix-caching", "--enable-scale-out"} < set(command)
    assert "--kv-cache-memory-bytes" not in command
    assert "--enforce-eager" not in command


def test_replicas_have_gpus_of_their_own() -> None:
    config = VLLMConfig(replicas=2, tensor_parallel_size=2, gpus=[1, 2, 5, 7])
    shown = [server_env(config, torch.device("cuda"), 0, index)["CUDA_VISIBLE_DEVICES"] for index in range(2)]
    assert shown == ["1,2", "5,7"]
    assert "CUDA_VISIBLE_DEVICES" not in server_env(VLLMConfig(), torch.device("cuda"), 0, 0)
    assert server_env(VLLMConfig(), CPU, 1, 0)["OMP_NUM_THREADS"] == "1"
    with pytest.raises(ConfigError, match="gpus names 3 GPUs, but 2 replicas of 2 GPUs each need 4"):
        load_recipe("quickstart", ["engine={name: vllm, replicas: 2, tensor_parallel_size: 2, gpus: [1, 2, 3]}"])


async def test_a_closed_engine_keeps_no_connection(make_engine: MakeEngine, images: Images) -> None:
    engine = make_engine()
    await engine.generate(ask(engine, images), SHORT)
    port = int(engine.replicas[0].server.url.rpartition(":")[2])

    def connections() -> list[int]:
        return [each.fd for each in psutil.Process().net_connections() if each.raddr and each.raddr.port == port]

    assert connections()
    await engine.aclose()
    assert not connections()
