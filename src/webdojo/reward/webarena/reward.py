"""The reward `webarena`: the product over a task's evaluators (Zhou et al. 2023, §3.2; WebAgent-R1 A).

An episode is judged from what is stored of it: its answer, the address of its last page, and the evidence that was read
before its session closed. Whatever asks a language model comes last, and only if all else holds.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any

from webdojo.browser.interface import Session
from webdojo.errors import RewardError, TaskError
from webdojo.policy.engines import Chat
from webdojo.reward.function import Asked
from webdojo.reward.judges.hearing import Hearing, ModelReward
from webdojo.reward.webarena import text, urls
from webdojo.reward.webarena.evidence import Found, asks_shop, collect
from webdojo.reward.webarena.functions import ShopApi, shop_address
from webdojo.reward.webarena.grading import same_answer, same_reason
from webdojo.reward.webarena.rules import Dialect, Rules
from webdojo.reward.webarena.spec import (
    NOT_ACHIEVABLE,
    PLACEHOLDER,
    Check,
    Evaluator,
    ExactMatch,
    FuzzyMatch,
    Lambda,
    NotAchievable,
    ProgramHtml,
    StringMatch,
    Target,
    UrlMatch,
    needs_grader,
    read_spec,
)
from webdojo.types import ImageSource, Reward, Sampling, Task, Trajectory

Facts = list[tuple[str, bool]]

GRADED_TOKENS = 500
"""Text tokens of a question to the model, about."""


class WebArenaReward(ModelReward):
    """1 where all evaluators of a WebArena task hold, else 0. Only tasks whose evaluators leave open how a thing is
    said need a model, which is `engine`'s; without one (`engine.base_url` is empty) they are refused."""

    name: str = "webarena"
    dialect: Dialect = "webarena"
    """Whose rules: `webarena`, or `webarena_lite` for its 165 tasks and what was trained by them."""
    strict_compat: bool = False
    """Judge exactly as the published harness does, with its bugs (`reward/webarena/rules.py` names them); for figures
    that are compared with published ones."""
    shop_user: str = "admin"
    """The shop's administrator, whom the evaluators of some tasks need; WebArena's own by default."""
    shop_password: str = "admin1234"
    sampling: Sampling = Sampling(temperature=0, max_tokens=768)

    @property
    def asks(self) -> bool:
        return not isinstance(self.engine, Chat) or bool(self.engine.base_url)

    def most_asked(self, steps: int, facts: int, step_tokens: int, size_px: tuple[int, int]) -> Asked:
        if not self.asks:
            return Asked()
        answers = self.sampling.max_tokens
        return Asked(1, 0, GRADED_TOKENS, 0, answers, self.engine.price(GRADED_TOKENS, answers))

    def needs_answer(self, task: Task) -> bool:
        return any(isinstance(evaluator, StringMatch) for evaluator in self._evaluators(task))

    def check(self, task: Task) -> None:
        evaluators = self._evaluators(task)
        spec = {key: value for key, value in task.evaluator.items() if key != "sites"}
        if left := PLACEHOLDER.search(json.dumps(spec)):
            raise TaskError(f"the evaluator of task {task.id!r} has {left[0]} in place of an address: give env.sites")
        if asks_shop(_targets(evaluators)):
            try:
                shop_address(task.evaluator.get("sites", {}))
            except TaskError as error:
                raise TaskError(f"task {task.id!r}: {error}") from None
        if needs_grader(evaluators) and not self.asks:
            raise TaskError(
                f"the evaluator of task {task.id!r} asks a language model, and none is set: leave such tasks out "
                "(env.graded=false), or name one (reward.name=webarena reward.engine.base_url=… reward.engine.model=…)"
            )

    async def evidence(self, trajectory: Trajectory, session: Session) -> dict[str, Any]:
        targets, task = _targets(self._evaluators(trajectory.task)), trajectory.task
        last_url = trajectory.final.url if trajectory.final is not None else ""
        if not targets:
            return {}
        if not asks_shop(targets):
            return {"targets": await collect(targets, session, last_url, None, self._rules)}
        address = shop_address(task.evaluator.get("sites", {}))
        async with ShopApi(address, self.shop_user, self.shop_password, self._rules) as shop:
            return {"targets": await collect(targets, session, last_url, shop, self._rules)}

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return await self.hear(trajectory, images, lambda hearing: self._verdict(trajectory, hearing))

    async def _verdict(self, trajectory: Trajectory, hearing: Hearing) -> Reward:
        evaluators = self._evaluators(trajectory.task)
        facts: Facts = []
        for graded in (False, True):
            for evaluator in evaluators:
                if needs_grader((evaluator,)) is graded:
                    facts += await self._facts(evaluator, trajectory, hearing)
            if not all(holds for _, holds in facts):
                break
        success = all(holds for _, holds in facts)
        wrong = next((name for name, holds in facts if not holds), "")
        return Reward(
            value=float(success),
            success=success,
            reason=f"not so: {wrong}" if wrong else f"all {len(facts)} checks hold",
            facts=[holds for _, holds in facts],
            fact_names=[name for name, _ in facts],
        )

    @property
    def _rules(self) -> Rules:
        return Rules(dialect=self.dialect, strict_compat=self.strict_compat)

    def _evaluators(self, task: Task) -> tuple[Evaluator, ...]:
        if task.evaluator.get("type") != "webarena":
            raise TaskError(f"task {task.id!r} has no evaluators of WebArena: name another reward")
        try:
            return read_spec(task.evaluator, self.dialect)
        except TaskError as error:
            raise TaskError(f"the evaluator of task {task.id!r} cannot be read: {error}") from None

    async def _facts(self, evaluator: Evaluator, trajectory: Trajectory, hearing: Hearing) -> Facts:
        match evaluator:
            case StringMatch():
                return await self._answer_facts(evaluator, trajectory, hearing)
            case UrlMatch():
                url = trajectory.final.url if trajectory.final is not None else ""
                name = f"the last page is {' or '.join(evaluator.references)}"
                return [(name, urls.matches(evaluator, url, self._rules))]
            case ProgramHtml():
                return [fact async for fact in self._page_facts(evaluator, trajectory, hearing)]

    async def _answer_facts(self, evaluator: StringMatch, trajectory: Trajectory, hearing: Hearing) -> Facts:
        answer, question, facts = trajectory.answer, trajectory.task.instruction, Facts()
        if answer is None or not answer.strip():
            return [("there is an answer", False)]
        for check in evaluator.checks:
            if not isinstance(check, NotAchievable):
                facts.append(
                    (_says("the answer", check), await self._holds(check, answer, question, hearing, answer=True))
                )
                continue
            holds = text.matches(ExactMatch(reference=NOT_ACHIEVABLE), answer, self._rules, answer=True)
            earlier = all(held for _, held in facts)
            if check.reason and (not holds or (self.strict_compat and not earlier)):
                said = text.clean(answer, self._rules)
                holds = await same_reason(hearing, question, check.reason, said, self._rules)
                if self.strict_compat and holds:
                    facts = [(name, True) for name, _ in facts]
            facts.append((_says("the answer", check), holds))
        return facts

    async def _page_facts(self, evaluator: ProgramHtml, trajectory: Trajectory, hearing: Hearing) -> Any:
        found = trajectory.evidence.get("targets")
        if found is None or len(found) != len(evaluator.targets):
            raise RewardError("the episode has no evidence of its pages, which is read before its session closes")
        for target, read in zip(evaluator.targets, found, strict=True):
            has = self._text(target, read)
            name = _says(f"what {_where(target)} at {read['url'] or 'no page'}", target.required)
            question = trajectory.task.instruction
            yield name, has is not None and await self._holds(target.required, has, question, hearing, answer=False)

    def _text(self, target: Target, found: Found) -> str | None:
        """What was found, as a text; None where that fails whatever is required."""
        value = found.get("value")
        if isinstance(target.locator, Lambda) and (value is None or (self.strict_compat and not value)):
            return None
        if value is None:
            return "None" if self.strict_compat and "error" not in found else ""
        return str(value) if self._rules.strict_lite else html.unescape(str(value))

    async def _holds(self, check: Check, given: str, question: str, hearing: Hearing, *, answer: bool) -> bool:
        if isinstance(check, NotAchievable):
            raise AssertionError("this is a check of answers, and of several texts")
        if not isinstance(check, FuzzyMatch):
            return text.matches(check, given, self._rules, answer=answer)
        said = text.clean(given, self._rules) if answer else given
        for reference in [", ".join(check.references)] if self._rules.lite else check.references:
            if not await same_answer(hearing, question, reference, said, self._rules):
                return False
        return True


def _targets(evaluators: tuple[Evaluator, ...]) -> list[Target]:
    return [target for each in evaluators if isinstance(each, ProgramHtml) for target in each.targets]


def _where(target: Target) -> str:
    return getattr(target.locator, "code", "") or getattr(target.locator, "function", "") or "the page says"


def _says(what: str, check: Check) -> str:
    """A check in words, for people."""
    return f"{what}: {check.kind} {json.dumps(list(_references(check)), ensure_ascii=False)}"


def _references(check: Check) -> Iterator[str]:
    yield from (str(value) for key, value in check if key != "kind")
