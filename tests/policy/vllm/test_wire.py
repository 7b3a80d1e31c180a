"""Requests to vLLM and what is read from its answers."""

from __future__ import annotations

import base64
import math
from typing import Any

import pytest

from webdojo.errors import EngineError
from webdojo.policy.vllm.wire import (
    BANNED_BIAS,
    check_probe,
    generate_body,
    probe_body,
    read_response,
    token_versions,
    waiting_requests,
)
from webdojo.types import FinishReason, ImageRef, ImageSegment, Prompt, Sampling, TextSegment

A = ImageRef(sha="a" * 64, width=64, height=96, mime="image/jpeg")
B = ImageRef(sha="b" * 64, width=32, height=32, mime="image/png")
BYTES = {A.sha: b"first", B.sha: b"second"}
PROMPT = Prompt(
    segments=(
        TextSegment(ids=(1, 2)),
        ImageSegment(image=A, tokens=6),
        TextSegment(ids=(3,)),
        ImageSegment(image=B, tokens=1),
        ImageSegment(image=A, tokens=6),
        TextSegment(ids=(4,)),
    )
)


def body(prompt: Prompt = PROMPT, **sampling: Any) -> dict[str, Any]:
    return generate_body(
        prompt,
        Sampling(**sampling),
        seed=7,
        image_token_id=9,
        banned=[9, 12],
        stop_id=5,
        read=lambda image: (image.mime, BYTES[image.sha]),
    )


def answer(**changes: Any) -> dict[str, Any]:
    choice = {
        "token_ids": [10, 11, 5],
        "finish_reason": "stop",
        "logprobs": {"content": [{"token_id": k, "logprob": -0.1 * k} for k in (10, 11, 5)]},
        "weight_versions": [{"version": "3", "start": 0, "end": 2}, {"version": "4", "start": 2, "end": 3}],
    } | changes
    return {"choices": [choice], "usage": {"prompt_tokens": len(PROMPT)}}


def test_an_image_is_one_pad_and_its_bytes_under_its_hash():
    sent = body()
    assert sent["token_ids"] == [1, 2, 9, 3, 9, 9, 4]
    assert [part["uuid"] for part in sent["content_parts"]] == [A.sha, B.sha, A.sha]
    kind, _, data = sent["content_parts"][1]["url"].partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) == b"second"
    assert "content_parts" not in body(Prompt(segments=PROMPT.segments[:1]))


def test_sampling_is_said_in_full_so_that_no_default_of_the_server_counts():
    sent = body(temperature=0.8, top_p=0.9, top_k=20, max_tokens=33, stop=("</s>",))["sampling_params"]
    assert sent["logprobs"] == 0
    assert (sent["temperature"], sent["top_p"], sent["top_k"], sent["max_tokens"]) == (0.8, 0.9, 20, 33)
    assert (sent["seed"], sent["stop_token_ids"], sent["ignore_eos"]) == (7, [5], True)
    assert (sent["stop"], sent["include_stop_str_in_output"], sent["detokenize"]) == (["</s>"], True, True)
    assert sent["skip_special_tokens"] is False, "stop texts may hold special tokens"


def test_banned_ids_stay_banned_whatever_bias_is_asked():
    sent = body(logit_bias={12: 50.0, 3: -2.0})["sampling_params"]["logit_bias"]
    assert sent == {"12": BANNED_BIAS, "9": BANNED_BIAS, "3": -2.0}


@pytest.mark.parametrize("temperature", [0.001, 2.5])
def test_a_temperature_that_vllm_would_change_or_refuse_is_an_error(temperature: float):
    with pytest.raises(EngineError, match=f"temperature {temperature:g}: vLLM samples at 0 and from 0.01 to 2"):
        body(temperature=temperature)
    assert body(temperature=0)["sampling_params"]["temperature"] == 0


def test_a_response_has_a_version_for_each_token():
    response = read_response(answer(), len(PROMPT), {"total": 1.5})
    assert response.ids == [10, 11, 5]
    assert response.logprobs == pytest.approx([-1.0, -1.1, -0.5])
    assert response.versions == [3, 3, 4]
    assert response.finish_reason is FinishReason.STOP
    assert response.seconds == {"total": 1.5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"finish_reason": "abort"}, "ended the request by 'abort'"),
        ({"token_ids": [10, 11]}, "3 log-probabilities for 2 tokens"),
        ({"weight_versions": None}, "do not say which made 3 tokens"),
        ({"logprobs": {"content": [{"token_id": k, "logprob": -9999.0} for k in (10, 11, 5)]}}, "not finite"),
    ],
)
def test_an_answer_that_does_not_add_up_is_an_error(changes: dict[str, Any], message: str):
    with pytest.raises(EngineError, match=message):
        read_response(answer(**changes), len(PROMPT), {})


def test_another_prompt_than_was_meant_is_an_error():
    with pytest.raises(EngineError, match=r"read 17 tokens where the prompt has 21.*preprocessor_config\.json"):
        read_response(answer(), 21, {})


@pytest.mark.parametrize(
    ("spans", "count", "expected"),
    [
        ([], 0, []),
        ([("7", 0, 3)], 3, [7, 7, 7]),
        ([("0", 0, 1), ("2", 1, 3)], 3, [0, 2, 2]),
        ([("1", 0, 0), ("2", 0, 2)], 2, [2, 2]),
        ([("1", 0, 2)], 3, None),
        ([("1", 0, 1), ("2", 2, 3)], 3, None),
        ([("default", 0, 3)], 3, None),
        ([], 1, None),
    ],
)
def test_spans_become_versions(spans: list[tuple[str, int, int]], count: int, expected: list[int] | None):
    records = [{"version": version, "start": start, "end": end} for version, start, end in spans]
    if expected is None:
        with pytest.raises(EngineError, match=f"do not say which made {count} tokens"):
            token_versions(records, count)
    else:
        assert token_versions(records, count) == expected


@pytest.mark.parametrize(
    ("logprob", "message"),
    [
        (math.log(0.25), ""),
        (math.log(0.97), ""),
        (0.0, r"after top-k and top-p.*\"backend\": \"webdojo\""),
        (math.log(0.01), "raw log-probabilities.*--logprobs-mode processed_logprobs"),
    ],
)
def test_the_probe_tells_which_log_probabilities_a_server_reports(logprob: float, message: str):
    asked = probe_body([3, 4, 5, 6, 7])
    assert asked["sampling_params"]["top_k"] == 1
    assert len(asked["sampling_params"]["logit_bias"]) == 4
    probe = {"choices": [{"logprobs": {"content": [{"token_id": 3, "logprob": logprob}]}}]}
    if message:
        with pytest.raises(EngineError, match=message):
            check_probe(probe, "http://x")
    else:
        check_probe(probe, "http://x")


def test_the_queue_is_read_from_the_metrics_of_all_engines_of_a_server() -> None:
    metrics = (
        "# TYPE vllm:num_requests_waiting gauge\n"
        'vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3-VL"} 3.0\n'
        'vllm:num_requests_waiting{engine="1",model_name="Qwen/Qwen3-VL"} 4.0\n'
        'vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-VL"} 64.0\n'
    )
    assert waiting_requests(metrics) == 7
    assert waiting_requests("404: not found") == 0
