"""The `eval` of a WebArena task as typed evaluators; whatever is wrong with it is one line before the task runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from webdojo.errors import TaskError
from webdojo.reward.webarena.rules import Dialect
from webdojo.types import FrozenRecord

OR = " |OR| "
"""Between alternatives of a reference, one of which is enough."""
GOLD_IN_PRED, EXACT = "GOLD in PRED", "EXACT"
NOT_ACHIEVABLE = "N/A"
PLACEHOLDER = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
"""Stands in a file of tasks for the address of a site."""


class ExactMatch(FrozenRecord):
    """The text is the reference."""

    kind: Literal["exact_match"] = "exact_match"
    reference: str


class MustInclude(FrozenRecord):
    """The text has every reference in it."""

    kind: Literal["must_include"] = "must_include"
    references: tuple[str, ...] = Field(min_length=1)


class MustExclude(FrozenRecord):
    """The text has none of the references in it (WebArena-Lite)."""

    kind: Literal["must_exclude"] = "must_exclude"
    references: tuple[str, ...] = Field(min_length=1)


class OneOf(FrozenRecord):
    """The text has one of the references in it (WebArena-Lite)."""

    kind: Literal["one_of"] = "one_of"
    references: tuple[str, ...] = Field(min_length=1)


class RequiredValues(FrozenRecord):
    """The text is a number for which all conditions hold, such as `>= 300` (WebArena-Lite)."""

    kind: Literal["required_values"] = "required_values"
    conditions: tuple[str, ...] = Field(min_length=1)


class FuzzyMatch(FrozenRecord):
    """A grader finds that the text says what each reference says."""

    kind: Literal["fuzzy_match"] = "fuzzy_match"
    references: tuple[str, ...] = Field(min_length=1)


class NotAchievable(FrozenRecord):
    """The task cannot be done: the answer is `N/A`, or a grader finds that it gives this reason."""

    kind: Literal["not_achievable"] = "not_achievable"
    reason: str


Check: TypeAlias = Annotated[
    ExactMatch | MustInclude | MustExclude | OneOf | RequiredValues | FuzzyMatch | NotAchievable,
    Field(discriminator="kind"),
]


class StringMatch(FrozenRecord):
    """All checks hold of the agent's answer."""

    kind: Literal["string_match"] = "string_match"
    checks: tuple[Check, ...] = Field(min_length=1)


class UrlMatch(FrozenRecord):
    """The address of the page that the agent left fits one of the references."""

    kind: Literal["url_match"] = "url_match"
    references: tuple[str, ...] = Field(min_length=1)
    exact: bool = False


class LastPage(FrozenRecord):
    """The page that the agent left."""

    kind: Literal["last"] = "last"


class Address(FrozenRecord):
    """A page at an address."""

    kind: Literal["address"] = "address"
    url: str


class Call(FrozenRecord):
    """The result of one of the functions of `functions.py`."""

    kind: Literal["call"] = "call"
    function: str
    arguments: tuple[str, ...] = ()


class WholePage(FrozenRecord):
    """The HTML of the page."""

    kind: Literal["page"] = "page"


class Expression(FrozenRecord):
    """What a JavaScript expression yields in the page, once the actions have prepared it."""

    kind: Literal["expression"] = "expression"
    code: str
    prepare: tuple[str, ...] = ()


class Lambda(FrozenRecord):
    """What a JavaScript function yields in the page (WebArena-Lite)."""

    kind: Literal["lambda"] = "lambda"
    code: str


Place: TypeAlias = Annotated[LastPage | Address | Call, Field(discriminator="kind")]
Locator: TypeAlias = Annotated[WholePage | Expression | Lambda | Call, Field(discriminator="kind")]


class Target(FrozenRecord):
    """A place in a page, and what must be there."""

    place: Place
    locator: Locator
    required: Check


class ProgramHtml(FrozenRecord):
    """Every target has what it must have."""

    kind: Literal["program_html"] = "program_html"
    targets: tuple[Target, ...] = Field(min_length=1)


Evaluator: TypeAlias = Annotated[StringMatch | UrlMatch | ProgramHtml, Field(discriminator="kind")]

PLACES = {"shopping_get_latest_order_url": 0, "reddit_get_post_url": 1}
"""Functions that yield the address of a page, with the number of their arguments."""
LOCATORS = {
    "shopping_get_sku_latest_review_author": 1,
    "shopping_get_sku_latest_review_rating": 1,
    "gitlab_get_project_memeber_role": 2,
}
"""Functions that find a text; the spelling is WebArena's."""
LITE_CHECKS = {"must_exclude", "one_of", "required_values"}


def read_spec(spec: Mapping[str, Any], dialect: Dialect) -> tuple[Evaluator, ...]:
    """The evaluators of a task's `eval`, all of which must hold; a TaskError says what is wrong with it."""
    kinds = _given(spec, "eval_types", list)
    if not kinds:
        raise TaskError("eval_types names no evaluator")
    return tuple(_evaluator(kind, spec, dialect) for kind in dict.fromkeys(kinds))


def needs_grader(evaluators: tuple[Evaluator, ...]) -> bool:
    """Whether one of the checks asks a language model."""
    checks: list[Check] = []
    for evaluator in evaluators:
        if isinstance(evaluator, StringMatch):
            checks += evaluator.checks
        elif isinstance(evaluator, ProgramHtml):
            checks += [target.required for target in evaluator.targets]
    return any(isinstance(check, FuzzyMatch | NotAchievable) for check in checks)


def _evaluator(kind: str, spec: Mapping[str, Any], dialect: Dialect) -> Evaluator:
    match kind:
        case "string_match":
            given = _given(spec, "reference_answers", dict)
            checks = tuple(_answer_check(name, value, spec, dialect) for name, value in given.items())
            if not checks:
                raise TaskError("reference_answers is empty")
            return StringMatch(checks=checks)
        case "url_match":
            return _url_match(spec, dialect)
        case "program_html":
            targets = tuple(_target(target, dialect) for target in _given(spec, "program_html", list))
            if not targets:
                raise TaskError("program_html is empty")
            return ProgramHtml(targets=targets)
    raise TaskError(f"eval_types has {kind!r}; there are string_match, url_match and program_html")


def _given(spec: Mapping[str, Any], key: str, kind: type) -> Any:
    value = spec.get(key)
    if not isinstance(value, kind):
        raise TaskError(f"{key} must be a {kind.__name__}, but is {value!r}")
    return value


def _answer_check(kind: str, value: Any, spec: Mapping[str, Any], dialect: Dialect) -> Check:
    if kind == "fuzzy_match" and value == NOT_ACHIEVABLE:
        return NotAchievable(reason=spec.get("string_note") or "")
    return _check(kind, value, dialect)


def _check(kind: str, value: Any, dialect: Dialect) -> Check:
    if kind in LITE_CHECKS and dialect != "webarena_lite":
        raise TaskError(f"{kind!r} is a check of WebArena-Lite: set reward.dialect=webarena_lite")
    if kind == "exact_match":
        if not isinstance(value, str):
            raise TaskError(f"exact_match must be a text, but is {value!r}")
        return ExactMatch(reference=value)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise TaskError(f"{kind} must be a list of texts, but is {value!r}")
    match kind:
        case "must_include":
            return MustInclude(references=tuple(texts))
        case "must_exclude":
            return MustExclude(references=tuple(texts))
        case "one_of":
            return OneOf(references=tuple(texts))
        case "required_values":
            return RequiredValues(conditions=tuple(texts))
        case "fuzzy_match":
            return FuzzyMatch(references=tuple(texts))
    raise TaskError(f"there is no check {kind!r} of a text")


def _url_match(spec: Mapping[str, Any], dialect: Dialect) -> UrlMatch:
    references = tuple(_given(spec, "reference_url", str).split(OR))
    if not all(reference.strip() for reference in references):
        raise TaskError("reference_url is empty")
    lite = dialect == "webarena_lite"
    rule = spec.get("url_note", EXACT if lite else GOLD_IN_PRED)
    if rule not in ((GOLD_IN_PRED, EXACT) if lite else (GOLD_IN_PRED,)):
        raise TaskError(f"url_note is {rule!r}, which is no rule of {dialect}")
    return UrlMatch(references=references, exact=rule == EXACT)


def _target(given: Any, dialect: Dialect) -> Target:
    if not isinstance(given, dict):
        raise TaskError(f"a target of program_html must be an object, but is {given!r}")
    url, locator = _given(given, "url", str), _given(given, "locator", str)
    required = _given(given, "required_contents", dict)
    if len(required) != 1:
        raise TaskError(f"required_contents must have one check, but has {', '.join(required) or 'none'}")
    ((kind, value),) = required.items()
    if kind == "one_of" or (kind == "fuzzy_match" and dialect != "webarena_lite"):
        raise TaskError(f"{kind!r} is no check of a page in {dialect}")
    place: Place = LastPage() if url == "last" else Address(url=url)
    if url.startswith("func:"):
        place = read_call(url, PLACES)
    prepare = tuple(given.get("prep_actions", ()))
    return Target(place=place, locator=_locator(locator, prepare, dialect), required=_check(kind, value, dialect))


def _locator(given: str, prepare: tuple[str, ...], dialect: Dialect) -> Locator:
    if not given.strip():
        return WholePage()
    if given.startswith(("document.", "[...document.")):
        return Expression(code=given.strip().rstrip(";"), prepare=tuple(each.strip().rstrip(";") for each in prepare))
    if given.startswith("func:"):
        return read_call(given, LOCATORS)
    if given.startswith("lambda:") and dialect == "webarena_lite":
        return Lambda(code=given.removeprefix("lambda:").strip())
    raise TaskError(f"the locator {given!r} is none of {dialect}")


def read_call(text: str, allowed: Mapping[str, int]) -> Call:
    """The call of one of the allowed functions, whose arguments are texts or `__page__`; nothing is evaluated."""
    code = text.removeprefix("func:").strip()
    try:
        call = ast.parse(code, mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise TaskError(f"{text!r} is no call of a function")
    if call.func.id not in allowed:
        raise TaskError(f"{text!r} calls {call.func.id!r}; here it may call {', '.join(allowed)}")
    arguments = [
        "__page__" if isinstance(each, ast.Name) and each.id == "__page__" else getattr(each, "value", None)
        for each in call.args
    ]
    if len(arguments) != allowed[call.func.id] or not all(isinstance(each, str) for each in arguments):
        raise TaskError(f"{text!r} must give {call.func.id} {allowed[call.func.id]} texts")
    return Call(function=call.func.id, arguments=tuple(map(str, arguments)))
