"""What the judges' protocols cost, how fast they go, and whom an agent may deceive.

    python benchmarks/judges.py [--trajectories 200] [--seed 0]

The trajectories are made first, in real Chromium on all kinds of the embedded web (`judges_run.py`).

| part | what it does |
|---|---|
| `cost` | each protocol judges all of them with a model that knows the truth of every fact: calls, images and tokens |
| `speed` | verdicts a second with an HTTP endpoint that answers after 50 ms, at the judge's default concurrency and one
  request at a time |
| `stress` | `webdojo judge stress` with the rules and with a judge that believes the agent's last words |

Tokens are those of requests: a text has one for every 4 characters, a screenshot one for each square of 32 px that it
touches, as in Qwen3-VL. In `cost` every screenshot matters, but in the row `webgym_last_screenshot_alone`, which is
what that protocol costs at least. `most_calls` is the bound of `--dry-run` for the same episodes.

The naive way asks what WebGym's judge decides by (is the agent shut out, is every claim of its answer shown, is each
fact shown), every question about all screenshots, and goes on after a fact that fails. `x_calls_saved` divides its
calls by those of WebGym's judge, which asks about each screenshot but the last first and stops at the first fact that
fails, over the same trajectories; below 1 WebGym's judge makes more calls. `x_tokens_saved` divides text and image
tokens alike, `x_tokens_saved_at_most` where the last screenshot alone matters, `x_fact_calls_saved` the calls about
facts alone. Only episodes that the gate lets through are judged.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from judges_endpoint import endpoint
from judges_run import AGENTS, agent_of, make_run, with_rubric
from judges_scripted import REPLIES, Credulous, Truthful
from record import record

from webdojo.evaluation.metrics import share
from webdojo.loops.judging.audit import Choice
from webdojo.loops.judging.stress import stress
from webdojo.policy.config import screenshot_tokens
from webdojo.policy.engines import Chat
from webdojo.progress import progress
from webdojo.reward.gate import Scorer
from webdojo.reward.judges.agenttrek import AgentTrekJudge
from webdojo.reward.judges.blame import not_the_agents_doing
from webdojo.reward.judges.case import Case, Screen, quoted
from webdojo.reward.judges.deepshop import DeepShopJudge
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import Judge, Question, failed, passed
from webdojo.reward.judges.openwebrl import OpenWebRLJudge
from webdojo.reward.judges.process_outcome import ProcessOutcomeJudge
from webdojo.reward.judges.rubric import facts_of
from webdojo.reward.judges.verdict import SUCCESS, YES_NO, choice
from webdojo.reward.judges.webgym import BLOCKING, CLAIMS, FACT, WebGymJudge
from webdojo.reward.judges.webjudge import WebJudge
from webdojo.reward.judges.webvoyager import WebVoyagerJudge
from webdojo.store.run import RunStore
from webdojo.types import ImageSource, Reward, Trajectory

TOKEN_CHARACTERS = 4
TOKEN_PX = 32
ANSWER_S = 0.05
REPEATS = 5


LEAST = "webgym_last_screenshot_alone"


class NaiveJudge(WebGymJudge):
    """Asks every question about all screenshots, and each of them whatever was answered before."""

    name: str = "naive"

    def questions(self, steps: int, facts: int) -> list[Question]:
        return super().questions(steps, facts)[steps:]

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        def success(text: str) -> bool | None:
            return choice(text, SUCCESS)

        history, facts = f"Actions of the agent:\n{case.history()}", facts_of(case.task)
        shown: list[str | Screen] = [case.instruction, history, *case.screens]
        await hearing.ask("blocking", BLOCKING, shown, lambda text: choice(text, YES_NO))
        claims: list[str | Screen] = [case.instruction, case.final_answer, *case.screens]
        verdicts = [await hearing.ask("criterion B", CLAIMS, claims, success)]
        verdicts += [
            await hearing.ask(f"fact {number}", FACT, [f"Fact: {quoted(fact.text)}", *shown], success)
            for number, fact in enumerate(facts, 1)
        ]
        return passed("all hold") if all(verdicts) else failed("not all hold")


JUDGES: dict[str, Callable[[Truthful], Judge]] = {
    "naive": lambda engine: NaiveJudge(engine=engine),
    "webgym": lambda engine: WebGymJudge(engine=engine),
    LEAST: lambda engine: WebGymJudge(engine=_without_key_screenshots(engine)),
    "openwebrl": lambda engine: OpenWebRLJudge(engine=engine),
    "webvoyager": lambda engine: WebVoyagerJudge(engine=engine),
    "webjudge": lambda engine: WebJudge(engine=engine),
    "agenttrek": lambda engine: AgentTrekJudge(engine=engine),
    "deepshop_molmoweb": lambda engine: DeepShopJudge(engine=engine),
    "deepshop_original": lambda engine: DeepShopJudge(engine=engine, variant="original"),
    "process_outcome": lambda engine: ProcessOutcomeJudge(engine=engine),
}


def _without_key_screenshots(engine: Truthful) -> Truthful:
    return engine.model_copy(update={"key_screenshots": False})


SPEED: dict[str, tuple[type[Judge], int]] = {"openwebrl": (OpenWebRLJudge, 120), "webgym": (WebGymJudge, 12)}
"""Judges whose speed is measured, and the most episodes that each of them judges in a repeat."""


# --- cost ------------------------------------------------------------------------------------------------


async def cost(store: RunStore, trajectories: list[Trajectory]) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The headline and the rows of the part `cost`."""
    engine = Truthful()
    engine.learn(trajectories)
    asked: dict[str, list[dict[str, int]]] = {}
    with progress("judged", len(JUDGES) * len(trajectories)) as bar:
        for name, judge_with in JUDGES.items():
            judge = judge_with(engine)
            rewards = await judged(judge, trajectories, store.images, bar.advance)
            asked[name] = [requests(reward, judge, each) for each, reward in zip(trajectories, rewards, strict=True)]
    rows = []
    for name, counts in asked.items():
        rows.append({"part": "cost", "judge": name, **_means(counts)})
        for agent in AGENTS if name in ("naive", "webgym") else ():
            own = [count for count, each in zip(counts, trajectories, strict=True) if agent_of(each) == agent]
            rows.append({"part": "cost", "judge": name, "agent": agent, **_means(own)})

    def ratio(*keys: str, to: str = "webgym") -> float:
        naive, other = (sum(count[key] for count in asked[name] for key in keys) for name in ("naive", to))
        return round(naive / max(other, 1), 2)

    headline = {
        "x_calls_saved": ratio("calls"),
        "x_fact_calls_saved": ratio("fact_calls"),
        "x_tokens_saved": ratio("text_tokens", "image_tokens"),
        "x_tokens_saved_at_most": ratio("text_tokens", "image_tokens", to=LEAST),
    }
    return headline, rows


async def judged(
    judge: Judge, trajectories: Sequence[Trajectory], images: ImageSource, advance: Callable[[], None] = lambda: None
) -> list[Reward]:
    """The rewards behind the gate."""

    async def reward(trajectory: Trajectory, scorer: Scorer) -> Reward:
        copy = trajectory.model_copy(update={"reward": None})
        await scorer.score(copy)
        advance()
        assert copy.reward is not None
        if not copy.reward.valid and copy.reward.judgements:
            raise SystemExit(f"{judge.name} gave no verdict on {copy.id}: {copy.reward.reason}")
        return copy.reward

    async with Scorer(judge, images) as scorer:
        return await asyncio.gather(*(reward(each, scorer) for each in trajectories))


def requests(reward: Reward, judge: Judge, trajectory: Trajectory) -> dict[str, int]:
    """What was asked of the model about an episode, and how many calls a dry run plans for it."""
    asked = reward.judgements
    images = [image for each in asked for image in each.images]
    planned = judge.questions(len(trajectory.turns), len(facts_of(trajectory.task)))
    return {
        "episodes": int(bool(asked)),
        "calls": len(asked),
        "fact_calls": sum("fact" in each.step for each in asked),
        "images": len(images),
        "text_tokens": sum(-(-len(each.prompt) // TOKEN_CHARACTERS) for each in asked),
        "image_tokens": sum(screenshot_tokens((image.width, image.height), TOKEN_PX) for image in images),
        "most_calls": len(planned) if asked else 0,
    }


def _means(counts: Sequence[dict[str, int]]) -> dict[str, Any]:
    """Over the episodes that were judged."""
    judged = sum(count["episodes"] for count in counts)
    sums = {key: sum(count[key] for count in counts) for key in counts[0] if key != "episodes"}
    return {"episodes": judged, "of": len(counts), **{key: round(n / max(judged, 1), 2) for key, n in sums.items()}}


# --- speed -----------------------------------------------------------------------------------------------


async def speed(store: RunStore, trajectories: list[Trajectory]) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The headline and the rows of the part `speed`: both ways by turns, over episodes that an agent itself ended."""
    ended = [each for each in trajectories if each.answer and not_the_agents_doing(each) is None]
    rows, headline = [], {}
    with endpoint(ANSWER_S, REPLIES) as url, progress("repeats", 2 * REPEATS * len(SPEED)) as bar:
        for name, (judge, most) in SPEED.items():
            ways = {
                "default": judge(engine=Chat(base_url=url, model="scripted")),
                "one_at_a_time": judge(
                    engine=Chat(base_url=url, model="scripted", max_concurrency=1), max_concurrency=1
                ),
            }
            rates: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(REPEATS):
                for way, function in ways.items():
                    rates[way].append(await _rate(function, ended[:most], store.images))
                    bar.advance(1, **{f"{name}_per_s": rates[way][-1]})
            rows += [
                {
                    "part": "speed",
                    "judge": name,
                    "way": way,
                    "episodes": len(ended[:most]),
                    "at_once": function.max_concurrency,
                    "verdicts_per_s": round(statistics.median(rates[way]), 2),
                    "spread": [round(min(rates[way]), 2), round(max(rates[way]), 2)],
                }
                for way, function in ways.items()
            ]
            medians = {way: statistics.median(found) for way, found in rates.items()}
            prefix = "" if name == next(iter(SPEED)) else f"{name}_"
            headline[f"{prefix}verdicts_per_s"] = round(medians["default"], 1)
            headline[f"{prefix}x_one_at_a_time"] = round(medians["default"] / medians["one_at_a_time"], 1)
    return headline, rows


async def _rate(judge: Judge, trajectories: Sequence[Trajectory], images: ImageSource) -> float:
    """Verdicts a second. Account and cache of answers are kept in a folder, as in a run, and are empty at first."""
    copies = [each.model_copy(update={"reward": None}) for each in trajectories]
    with tempfile.TemporaryDirectory() as folder:
        async with Scorer(judge, images, Path(folder)) as scorer:
            began = time.perf_counter()
            await asyncio.gather(*map(scorer.score, copies))
            seconds = time.perf_counter() - began
    if wrong := [each for each in copies if each.reward is None or not each.reward.success]:
        raise SystemExit(f"no verdict on {wrong[0].id}: {wrong[0].reward}")
    return len(copies) / seconds


# --- stress ----------------------------------------------------------------------------------------------


def deceived(run: Path, seed: int) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The headline and the rows of the part `stress`: percent of corrupted episodes that were accepted."""
    headline, rows = {}, []
    for name in ("rules", f"{Credulous.__module__}:{Credulous.__name__}"):
        judge = name.rpartition(":")[2].lower()
        with ExitStack() as stack:

            def begin(total: int) -> Callable[[], None]:
                return stack.enter_context(progress(f"stress of {judge}", total)).advance  # noqa: B023

            report = asyncio.run(stress(run, name, [], Choice(seed=seed), begin))
        headline[f"false_accept_stress_{judge}"] = _percent(report["false_accepts"]["rate"])
        rows.append({"part": "stress", "judge": judge, "sources": report["sources"]})
        for kind, each in report["kinds"].items():
            row = {
                "kind": kind,
                "truth": each["label"],
                "invalid": each["invalid"],
                "accepted": _share(each["accepted"]),
            }
            rows.append({"part": "stress", "judge": judge, **row})
        sums = {total: _share(report[total]) for total in ("false_accepts", "false_rejects")}
        rows.append({"part": "stress", "judge": judge, **sums})
    return headline, rows


def _share(rate: dict[str, Any]) -> dict[str, Any]:
    return {"n": rate["n"], "successes": rate["successes"], "percent": _percent(rate["rate"])} | {
        "ci95_percent": [_percent(bound) for bound in rate["ci95"]]
    }


def _percent(rate: float) -> float:
    return round(100 * rate, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trajectories", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    headline: dict[str, float | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        make_run(run, arguments.trajectories, arguments.seed)
        with RunStore.open(run, readonly=True) as store:
            trajectories = [with_rubric(each) for each in store.trajectories()]
            rows = [_made(agent, [each for each in trajectories if agent_of(each) == agent]) for agent in AGENTS]
            for part in (cost, speed):
                figures, more = asyncio.run(part(store, trajectories))
                headline |= figures
                rows += more
        figures, more = deceived(run, arguments.seed)
        headline |= figures
        rows += more
    record("judges", headline, rows)


def _made(agent: str, episodes: Sequence[Trajectory]) -> dict[str, Any]:
    done = share(sum(each.reward is not None and each.reward.success for each in episodes), len(episodes))
    steps = round(statistics.mean(len(each.turns) for each in episodes), 2)
    facts = round(statistics.mean(len(facts_of(each.task)) for each in episodes), 2)
    ended = sum(each.answer is not None for each in episodes)
    row = {
        "part": "episodes",
        "agent": agent,
        "episodes": len(episodes),
        "ended": ended,
        "steps": steps,
        "facts": facts,
    }
    return {**row, "done": _share(done.model_dump())}


if __name__ == "__main__":
    main()
