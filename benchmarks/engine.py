"""How much faster does the embedded engine answer web agents than `model.generate`, and how much need it not read?

    python benchmarks/engine.py [--at-once 1 8 32] [--repeats 5] [--turns 4] [--tokens 32] [--threads 1]
    python benchmarks/engine.py --profile       where the engine's time goes

The tiny model in float32 on the CPU. Episodes of the `openwebrl` harness, as many as run at once, in groups of
eight that share system prompt, task and first screenshot; on each later turn a member sees one of three screens,
because in recorded groups of the quickstart 27 to 36 % of all screens are distinct. Screens have 320×320 px, and the
last three stay in the prompt. An episode asks for its next response when it has the one before. The prompts are made
beforehand, with what the model says greedily as past responses, so both ways are asked the same. Every response has
the same number of tokens, which takes a ban of the token that ends a turn.

`generate` gets each turn of all episodes as one batch, padded on the left, with each screenshot decoded once; it has
no memory between calls. The engine starts with empty caches in each repeat. Decoding of screenshots and building of
inputs count for both. A figure of a row is the median of its repeats, `spread` the smallest and the largest; the ways
take turns, and `x_generate` is the median over repeats of the ratio of tokens a second, `x_generate_cpu` the same by
CPU seconds: the figure to trust where the machine has other work. `equal_ids` is the share of
responses that both ways sampled alike, `max_abs_logprob_diff` the largest difference in nats between what the engine
said of its tokens and a forward pass without caches, and `prefill_saved` the share of prompt tokens that the engine
did not read at the largest number of episodes.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from statistics import median
from typing import Any

import numpy as np
import record
import torch
from padded import collate, left_padded
from PIL import Image

from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.hf.request import logit_bias
from webdojo.policy.model.forward import policy_logits, text_hidden, vision_features
from webdojo.policy.model.loading import load_model
from webdojo.progress import progress
from webdojo.store.images import MemoryImages
from webdojo.types import Feedback, ImageRef, Observation, Prompt, Response, Sampling, Task

GROUP = 8
SCREENS = 3
"""That a group sees on a turn after the first."""
ROOM = 32768
"""Tokens of a prompt at most."""
SIDE_PX = 320
NEVER = -1e9
WAYS = ("generate", "engine")

Episode = list[Prompt]
"""The prompts of its turns."""


@dataclass
class Run:
    """One way through all episodes, once."""

    seconds: float
    cpu_seconds: float
    ids: list[list[int]]
    """Of all responses, episode by episode, turn by turn."""
    figures: dict[str, float] = field(default_factory=dict)


class Bench:
    """The model, twice, because the engine owns its own; the screenshots; and the episodes on them."""

    def __init__(self, turns: int, tokens: int) -> None:
        self.turns, self.tokens = turns, tokens
        self.images = MemoryImages()
        self.model: Any
        self.model, self.processor = load_model("tiny")
        self.engine_model, _ = load_model("tiny")
        self.harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature", screenshots_kept=3), self.processor)
        self.sampling = Sampling(
            temperature=0, max_tokens=tokens, logit_bias={self.processor.stop_id: NEVER}, top_p=1.0
        )
        banned = self.processor.banned(self.model.config.text_config.vocab_size)
        banned[self.processor.stop_id] = True
        self._suppressed = torch.nonzero(banned).flatten().tolist()

    def screenshot(self, rng: random.Random) -> ImageRef:
        """A picture of coloured blocks; what is on it costs the same."""
        blocks = np.random.default_rng(rng.randrange(2**32)).integers(0, 256, (20, 20, 3), dtype=np.uint8)
        data = BytesIO()
        Image.fromarray(blocks).resize((SIDE_PX, SIDE_PX), Image.Resampling.NEAREST).save(data, "JPEG", quality=85)
        return self.images.put(data.getvalue(), SIDE_PX, SIDE_PX, "image/jpeg")

    def episodes(self, count: int, seed: int) -> list[Episode]:
        """Of `count` agents, in groups; past responses are what the model says."""
        members: list[tuple[Task, list[ImageRef]]] = []
        for number in range(count):
            group = random.Random(f"{seed}/{number // GROUP}")
            instruction = f"Find the red mug number {group.randrange(1000)} and add it to the cart"
            task = Task(
                id=f"t{number}", instruction=instruction, start_url="http://shop-1.localhost/", website="shop-1"
            )
            choice = random.Random(f"{seed}/member/{number}")
            shown = [[self.screenshot(group) for _ in range(SCREENS)] for _ in range(self.turns)]
            members.append((task, [shown[0][0], *(choice.choice(screens) for screens in shown[1:])]))
        engine = HFEngine(self.engine_model, self.processor, self.images)

        async def play(task: Task, screens: list[ImageRef]) -> Episode:
            talk = self.harness.start(task, self._observation(screens[0]))
            prompts = [talk.prompt(ROOM)]
            for screen in screens[1:]:
                response = await engine.generate(prompts[-1], self.sampling)
                parsed = talk.parse(self.processor.decode(response.ids))
                feedback = [Feedback(ok=True, text="Clicked a link; the page changed.")]
                talk.add(response, parsed, feedback, self._observation(screen))
                prompts.append(talk.prompt(ROOM))
            return prompts

        async def play_all() -> list[Episode]:
            return await asyncio.gather(*(play(*member) for member in members))

        try:
            return asyncio.run(play_all())
        finally:
            engine.close()

    def _observation(self, screenshot: ImageRef) -> Observation:
        url, side = "http://shop-1.localhost/item", (SIDE_PX, SIDE_PX)
        return Observation(screenshot=screenshot, url=url, title="Shop", tabs=[], viewport_px=side)

    def generate(self, episodes: list[Episode]) -> Run:
        """By `model.generate`, turn by turn."""
        pixels: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        answers: list[list[list[int]]] = []
        started, cpu = time.perf_counter(), time.process_time()
        with torch.inference_mode():
            for prompts in zip(*episodes, strict=True):
                answers.append(self._generate(list(prompts), pixels))
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        return Run(seconds, cpu_seconds, [turn for turns in zip(*answers, strict=True) for turn in turns])

    def _generate(self, prompts: list[Prompt], pixels: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> list[list[int]]:
        inputs = left_padded(prompts, self.processor, self.images, pixels)
        out = self.model.generate(
            **inputs,
            do_sample=False,
            max_new_tokens=self.tokens,
            suppress_tokens=self._suppressed,
            pad_token_id=self.processor.stop_id,
        )
        answers: list[list[int]] = out[:, inputs["input_ids"].shape[1] :].tolist()
        return answers

    def engine(self, episodes: list[Episode], spy: Callable[[HFEngine], None] = lambda engine: None) -> Run:
        """By the engine, all episodes at once."""
        engine = HFEngine(self.engine_model, self.processor, self.images, threads=torch.get_num_threads())
        spy(engine)

        async def play(prompts: Episode) -> list[Response]:
            return [await engine.generate(prompt, self.sampling) for prompt in prompts]

        async def play_all() -> list[list[Response]]:
            return await asyncio.gather(*map(play, episodes))

        started, cpu = time.perf_counter(), time.process_time()
        answers = asyncio.run(play_all())
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        engine.close()
        responses = [response for turns in answers for response in turns]
        prompts = [prompt for episode in episodes for prompt in episode]
        figures = {
            "prompt_tokens": engine.prompt_tokens,
            "prefilled_tokens": engine.prefilled_tokens,
            "prefill_saved": 1 - engine.prefilled_tokens / engine.prompt_tokens,
            "decode_share": sum(r.seconds["decode"] for r in responses) / sum(r.seconds["total"] for r in responses),
            "max_abs_logprob_diff": max(self._gaps(prompts, responses)),
        }
        return Run(seconds, cpu_seconds, [r.ids for r in responses], figures)

    def _gaps(self, prompts: list[Prompt], responses: list[Response]) -> Iterator[float]:
        """Engine against a forward pass without caches, a response at a time."""
        model = self.model
        for prompt, response in zip(prompts, responses, strict=True):
            batch = collate([(prompt, response.ids)], self.processor, self.images)
            assert batch.pixel_values is not None and batch.image_grid_thw is not None
            with torch.inference_mode():
                seen = vision_features(model, batch.pixel_values, batch.image_grid_thw).rows(batch.feature_rows)
                mask = batch.mm_token_type_ids.bool()
                hidden = text_hidden(model, batch.input_ids, batch.position_ids, mask, seen, use_cache=False)
                bias = logit_bias([self.sampling] * len(response.ids), hidden.device)
                logits = policy_logits(model, hidden.flatten(0, 1)[batch.predictors], batch.banned, 1.0, bias)
                expected = logits.log_softmax(-1).gather(-1, batch.targets[:, None]).squeeze(-1)
            yield float((expected - torch.tensor(response.logprobs)).abs().max())


def measure(bench: Bench, at_once: int, repeats: int) -> list[dict[str, Any]]:
    """A row a way; the engine's has the ratio."""
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    with progress(f"{at_once} at once", 2 * repeats) as bar:
        for repeat in range(repeats):
            episodes = bench.episodes(at_once, seed=repeat)
            for way in WAYS if repeat % 2 == 0 else WAYS[::-1]:
                runs[way].append(getattr(bench, way)(episodes))
                bar.advance()
    tokens = at_once * bench.turns * bench.tokens
    rows: list[dict[str, Any]] = []
    for way, done in runs.items():
        rates = [tokens / run.seconds for run in done]
        row: dict[str, Any] = {"way": way, "at_once": at_once, "repeats": repeats, "threads": torch.get_num_threads()}
        row |= {"responses": at_once * bench.turns, "tokens_per_response": bench.tokens}
        row |= {"tokens_per_s": round(median(rates), 1), "spread": [round(min(rates), 1), round(max(rates), 1)]}
        row |= {"cpu_seconds": round(median(run.cpu_seconds for run in done), 3)}
        rows.append(row)
    pairs = list(zip(runs["generate"], runs["engine"], strict=True))
    ratios = [slow.seconds / fast.seconds for slow, fast in pairs]
    alike = [a == b for slow, fast in pairs for a, b in zip(slow.ids, fast.ids, strict=True)]
    engine = runs["engine"]
    rows[-1] |= {
        "x_generate": round(median(ratios), 2),
        "x_generate_spread": [round(min(ratios), 2), round(max(ratios), 2)],
        "x_generate_cpu": round(median(slow.cpu_seconds / fast.cpu_seconds for slow, fast in pairs), 2),
        "equal_ids": round(sum(alike) / len(alike), 4),
        "prompt_tokens": engine[0].figures["prompt_tokens"],
        "prefilled_tokens": median(run.figures["prefilled_tokens"] for run in engine),
        "prefill_saved": round(median(run.figures["prefill_saved"] for run in engine), 4),
        "decode_share": round(median(run.figures["decode_share"] for run in engine), 3),
        "max_abs_logprob_diff": max(run.figures["max_abs_logprob_diff"] for run in engine),
    }
    return rows


def headline(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Of the engine's rows."""
    of_engine = [row for row in rows if row["way"] == "engine"]
    last = max(of_engine, key=lambda row: row["at_once"])
    found: dict[str, float | None] = {f"x_generate_{row['at_once']}": row["x_generate"] for row in of_engine}
    found |= {f"x_generate_cpu_{row['at_once']}": row["x_generate_cpu"] for row in of_engine}
    found |= {"prefill_saved": last["prefill_saved"], "equal_ids": min(row["equal_ids"] for row in of_engine)}
    found |= {"max_abs_logprob_diff": max(row["max_abs_logprob_diff"] for row in of_engine)}
    return found


def profile(bench: Bench, at_once: int) -> None:
    """What the engine's worker does, function by function."""
    profiler = cProfile.Profile()

    def spy(engine: HFEngine) -> None:
        batch = engine._batch
        for name in ("admit", "step"):
            setattr(batch, name, _profiled(profiler, getattr(batch, name)))

    bench.engine(bench.episodes(at_once, seed=0), spy)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(40)


def _profiled(profiler: cProfile.Profile, work: Callable[..., None]) -> Callable[..., None]:
    return lambda *args: profiler.runcall(work, *args)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1, help="torch threads of both")
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    bench = Bench(arguments.turns, arguments.tokens)
    warm = bench.episodes(2, seed=-1)
    for way in WAYS:
        getattr(bench, way)(warm)
    if arguments.profile:
        profile(bench, max(arguments.at_once))
        return
    rows = [row for at_once in arguments.at_once for row in measure(bench, at_once, arguments.repeats)]
    record.record("engine", headline(rows), rows)


if __name__ == "__main__":
    main()
