"""What `webdojo eval` says below its table: what was invalid, several runs, what an episode costs, and the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webdojo.progress import duration, plural

_OF_DATES = {
    "passed": "plan ahead of a day that has gone by (tasks.shift_dates moves it)",
    "shifted": "have their dates moved by tasks.shift_dates",
}
"""What is told of `SuccessRate.by_dates`."""


def evaluation_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """One line each, from what `result.json` of an evaluation holds."""
    measured = result["success_eval"]
    if measured["invalid"]:
        why = ", ".join(f"{number} {cause.replace('_', ' ')}" for cause, number in measured["invalid"].items())
        low, high = measured["valid_ci95"]
        yield (
            f"without the invalid: {measured['valid_rate']:.1%} of {measured['valid_n']} "
            f"({low:.1%} .. {high:.1%}); invalid: {why}"
        )
    if measured["runs"] > 1:
        yield "; ".join([_spread(measured), *_at_k(measured)])
    for dates, rate in measured["by_dates"].items():
        yield f"{rate['n']} of {plural(measured['n'], 'episode')} {_OF_DATES[dates]}: {rate['rate']:.1%}"
    yield f"an episode: {_cost(result['cost'])}"
    yield f"protocol: {protocol_line(result['protocol'], result['differs'])}"


def protocol_line(name: str, differs: Mapping[str, Any]) -> str:
    """The protocol's name, and each value that is another one than in the package's recipe, which follows it."""
    values = ", ".join(f"{key} {here} (not {there})" for key, (there, here) in differs.items())
    return f"{name}, but {values}" if values else name


def _spread(measured: Mapping[str, Any]) -> str:
    tasks = plural(measured["tasks"], "task")
    return f"{measured['runs']} runs of {tasks}: {measured['rate']:.1%} ± {measured['rates_std']:.1%}"


def _at_k(measured: Mapping[str, Any]) -> Iterator[str]:
    """pass@k and S@K of the most runs, and F@1."""
    k = measured["runs"]
    yield f"pass@{k} {measured['pass_at_k'][str(k)]['value']:.1%}"
    yield f"S@{k} {measured['success_at_k'][str(k)]['rate']:.1%}"
    yield f"F@1 {measured['finish_rate']['rate']:.1%}"


def _cost(cost: Mapping[str, Any]) -> str:
    parts = [f"{cost['steps']:.1f} steps", f"{cost['response_tokens']:.0f} tokens", duration(cost["seconds"])]
    for name in ("engine", "judge"):
        if usd := cost.get(name, {}).get("usd"):
            parts.append(f"{usd / cost['episodes']:.4f} USD{' for its judge' * (name == 'judge')}")
    return ", ".join(parts)
