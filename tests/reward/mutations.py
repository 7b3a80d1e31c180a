"""Wrong evaluators, each one change away from the right one: operators, thresholds, readers' rules, dialects, and what
a judge is shown.

`python tests/reward/mutations.py` puts one after the other into a copy of the package and runs the tests of its folder;
a mutation that they do not notice is printed, and the exit code is 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
LAST = {"webarena": ["pages"]}
"""Modules by folder that start a browser, and are run where no other one has noticed a mutation."""
LEFT_OUT = {"": ["mutations", "mutated_text"], "judges": ["endpoint", "hostile_page", "judge", "tiny_judge"]}
"""Modules by folder that are not run."""


class Mutation(NamedTuple):
    file: str
    """In `webdojo/reward`."""
    right: str
    """Stands there once."""
    wrong: str
    breaks: str
    """What is then decided or shown wrongly."""


MUTATIONS = [
    # --- how answers are read
    Mutation(
        "judges/verdict.py", ' "" if rest.lstrip().startswith(_THOUGHTS) else', "", "thoughts that were cut off count"
    ),
    Mutation(
        "judges/verdict.py",
        "choices.get(chosen",
        "next((value for word, value in choices.items() if word in chosen), None",
        "NOT SUCCESS and UNSUCCESSFUL read as SUCCESS",
    ),
    Mutation(
        "judges/verdict.py",
        "head.strip(_DECORATION).lower() != label",
        "label.lower() not in head",
        "a label inside of a sentence counts",
    ),
    Mutation("judges/verdict.py", "!= len(pairs", "> len(pairs", "the last of two contradicting keys counts"),
    Mutation(
        "judges/verdict.py", 'SUCCESS": False', 'SUCCESS": False, "UNSUCCESSFUL": True', "UNSUCCESSFUL is a success"
    ),
    Mutation("judges/verdict.py", "reversed(lines)", "lines", "the first line is the verdict"),
    Mutation(
        "judges/verdict.py",
        "rpartition(_THOUGHTS_END)[2]",
        "partition(_THOUGHTS_END)[2] or text",
        "only the first thoughts are left out",
    ),
    Mutation("judges/verdict.py", ').split("\\n"', ").splitlines(", "a line separator of Unicode ends a line"),
    Mutation("judges/verdict.py", "rpartition(_FENCE", "partition(_FENCE", "the first code fence counts"),
    Mutation("judges/verdict.py", '.rpartition("\\n")[0]', "", "the score is a part of its reason"),
    # --- what a judge is shown
    Mutation("judges/case.py", "redact(trajectory, trajectory.secrets)", "trajectory", "secrets reach the judge"),
    Mutation(
        "judges/case.py",
        "image == last.image",
        "url == last.url",
        "the screen before the last step is lost where the address did not change",
    ),
    Mutation("judges/case.py", "quoted(list(step.feedback)", "', '.join(step.feedback", "feedback is not quoted"),
    Mutation("judges/case.py", 'r"[<\\x7f', 'r"[\\x7f', "markers of a chat template pass"),
    Mutation("judges/case.py", "number in steps", "number not in steps", "the actions of all other steps are shown"),
    Mutation("judges/case.py", "quoted(step.error)", "step.error", "a format error is not quoted"),
    # --- whose doing it is
    Mutation(
        "judges/blame.py",
        "[good[-1] :]",
        "[good[-1] + 1 :]",
        "the action that left the last good page is not looked at",
    ),
    Mutation("judges/blame.py", '", "switch_tab', "", "an agent excuses itself by a change of tab"),
    Mutation("judges/blame.py", "[good[-1] :]", "[good[0] :]", "what was left behind counts"),
    Mutation("judges/blame.py", "(seen.blocked or seen.dead)", "seen.blocked", "a dead page is a good one"),
    Mutation("judges/blame.py", '([^/?#\\s]+)"', '([^/:?#\\s]+)"', "another port is the same site"),
    # --- what all judges share
    Mutation(
        "judges/ask.py",
        'system},\n            {"role": "user", "content": [*content, *more]',
        '"\\n".join(filter(None, [system, note]))},\n            {"role": "user", "content": [*content]',
        "an unreadable answer is quoted in the system message",
    ),
    Mutation(
        "judges/judge.py",
        "-self.max_images :",
        ": self.max_images",
        "the first screenshots are shown in place of the last",
    ),
    Mutation(
        "judges/judge.py", "max(image.width, image.height)", "image.width", "tall screenshots are sent in full size"
    ),
    Mutation("judges/ask.py", "_ in range(2", "_ in range(3", "an unreadable answer is asked for twice more"),
    Mutation(
        "judges/hearing.py",
        'invalid("unreadable", ',
        "Reward(value=0, success=False, reason=",
        "an unreadable answer is a failure",
    ),
    # --- the protocols
    Mutation("judges/openwebrl.py", "            case.final_answer,\n", "", "the final answer is not shown"),
    Mutation(
        "judges/webvoyager.py", 'failed("no answer")', "judged(True)", "an episode without an answer is a success"
    ),
    Mutation("judges/agenttrek.py", "thoughts=True", "", "thoughts are not shown"),
    Mutation(
        "judges/webjudge.py", "if score >= ", "if score > ", "screenshots of the threshold's own score are dropped"
    ),
    Mutation(
        "judges/webjudge.py",
        ": self.max_images",
        "-self.max_images :",
        "the last screenshots that matter are shown in place of the first",
    ),
    Mutation("judges/webjudge.py", "range(1, 6)", "range(0, 6)", "a screenshot may have the score 0"),
    Mutation(
        "judges/deepshop.py", "    if wrong", "    if len(wrong) == len(parts)", "one part of the query is enough"
    ),
    Mutation("judges/deepshop.py", ' ("", "None"', ' ("",', "a part that the query has not is asked about"),
    Mutation(
        "judges/rubric.py", '"" if found is None else str(found', 'str(found or ""', "a reference answer of 0 is none"
    ),
    Mutation(
        "judges/rubric.py", ' or [Fact("", task.instruction)]', "", "a task without a rubric is judged by nothing"
    ),
    Mutation("judges/webgym.py", "if not holds", "if not holds and number == len(facts)", "only the last fact decides"),
    Mutation(
        "judges/webgym.py",
        "history, *screens",
        "history, *screens, case.final_answer",
        "a fact is checked with the agent's word for it",
    ),
    Mutation(
        "judges/webgym.py",
        " kept), last",
        " kept)] or [last",
        "the last screen is shown only where no other one is kept",
    ),
    Mutation("judges/webgym.py", "not supported", "supported is None", "made-up claims cost nothing"),
    Mutation(
        "judges/webgym.py",
        "reference and",
        "reference and not",
        "the right answer goes on to the rubric and a wrong one is right",
    ),
    Mutation(
        "judges/process_outcome.py",
        ", *self.last",
        ", *[quoted(s.reason) for s in scores], *self.last",
        "the outcome is asked with the scores of the process",
    ),
    Mutation(
        "judges/process_outcome.py",
        "_rubrics[case.instruction",
        "_rubrics[case.task.start_url",
        "another task on the site gets the same rubric",
    ),
    Mutation("judges/process_outcome.py", '" and beyond', '"', "the outcome alone excuses an episode"),
    Mutation("judges/process_outcome.py", "score.score < 1 and ", "", "blame for what is fully met excuses"),
    # --- the gate and the rules of the embedded web
    Mutation(
        "gate.py", ".0 if function.format_reward else 0", "", "without format_reward repeated format errors earn -1"
    ),
    Mutation(
        "gate.py",
        "success, reward.reason = 0.0, False",
        "reason = 0.0",
        "an unfinished episode stays a success where the function says so",
    ),
    Mutation("gate.py", "turns, 1) if", "turns[-1:], 1) if", "only a format error in the last turn counts"),
    Mutation(
        "gate.py",
        "reason = 0.0, f",
        "success, reward.reason = 0.0, False, f",
        "a recovered format error hides that the task was done",
    ),
    Mutation("gate.py", "= excused or", "=", "an unfinished episode on a blocked page is a failure"),
    Mutation(
        "gate.py",
        "trajectory.answer is not None and not trajectory.answer",
        'not (trajectory.answer or "")',
        "an episode that the environment ended has failed for want of an answer",
    ),
    Mutation("gate.py", ", BudgetError", "", "an empty budget makes episodes invalid and the run goes on"),
    Mutation(
        "gate.py",
        "invalid(trajectory.failure or str(termination), ",
        "Reward(value=0.0, success=False, reason=",
        "a dead browser counts as the agent's failure",
    ),
    Mutation("gate.py", " and format_reward", "", "a format error costs the reward without format_reward"),
    Mutation(
        "gate.py",
        "not verdict.valid",
        "verdict.valid and not unfinished_because",
        "an invalid verdict does not stay as it is",
    ),
    Mutation(
        "rules.py",
        "not reward.success and (cause := permanent_failure(trajectory.state)",
        "(cause := permanent_failure(trajectory.state)",
        "an episode that succeeded in spite of a permanent failure is invalid",
    ),
    # --- WebArena's evaluators
    Mutation("webarena/spec.py", "dict.fromkeys(kinds)", "kinds[:1]", "only the first evaluator is asked"),
    Mutation("webarena/spec.py", ' kind == "fuzzy_match" and', "", "an exact N/A may be a reason"),
    Mutation("webarena/spec.py", "(?:_[A-Z]+)*", "", "__SHOPPING_ADMIN__ is left in a spec"),
    Mutation(
        "webarena/text.py", ".strict_lite", ".lite", "white space around an answer counts in repaired WebArena-Lite"
    ),
    Mutation("webarena/text.py", "\n            break", "", "two pairs of quotes are taken off"),
    Mutation(
        "webarena/text.py",
        "rules.lite or not answer or not rules.strict_compat",
        "True",
        "published WebArena takes alternatives in answers",
    ),
    Mutation("webarena/text.py", " or not answer", "", "published WebArena takes no alternatives in pages"),
    Mutation("webarena/text.py", ", slashes=False", "", "must_exclude finds parts of a word with slashes"),
    Mutation(
        "webarena/text.py", "not rules.strict_compat:", "True:", "published rules find the word before a full stop"
    ),
    Mutation("webarena/text.py", "_TOLERANCE if rules.strict_compat else -", "", "`<` and `>` hold for equal numbers"),
    Mutation(
        "webarena/words.py",
        "(_NUMBER.fullmatch(bare) and following.islower()",
        "_NUMBER.fullmatch(bare",
        "a number before a full stop is no word although a new sentence begins",
    ),
    Mutation(
        "webarena/urls.py",
        "path[: len(begins)] == begins",
        "given.path.startswith(wanted.path)",
        "an address matches that goes on in mid-segment",
    ),
    Mutation("webarena/urls.py", "rest and path", "path", "EXACT does not look at the query"),
    Mutation("webarena/urls.py", "unquote(segment)", "segment", "%20 and its space make two addresses"),
    Mutation(
        "webarena/urls.py", "any(value in", "all(value in", "published WebArena wants the queries of all alternatives"
    ),
    Mutation(
        "webarena/evidence.py",
        '.lstrip("lambda:") if rules.strict_compat else code  # noqa: B005',
        "",
        "published WebArena-Lite runs the code of a lambda whole",
    ),
    Mutation(
        "webarena/evidence.py",
        "not isinstance(target.place, LastPage",
        "isinstance(target.place, Address",
        "the agent's page is read in place of a page that is not there",
    ),
    Mutation(
        "webarena/functions.py",
        '"] if self._rules.strict_compat else order["entity_id',
        "",
        "an order's page is addressed by its number for customers",
    ),
    Mutation("webarena/functions.py", '"DESC"', '"ASC"', "the first order is taken for the latest"),
    Mutation("webarena/functions.py", " reviews[-1]", " reviews[0]", "the first review is taken for the latest"),
    Mutation(
        "webarena/functions.py",
        "not self._rules",
        "self._rules",
        "any first rating counts, and as published only the one called Rating",
    ),
    Mutation("webarena/functions.py", ' or path[1] != "f"', "", "a page of a user is taken for a post"),
    Mutation(
        "webarena/functions.py", "trim() === name", "includes(name)", "a member whose name begins the same is taken"
    ),
    Mutation(
        "webarena/grading.py",
        " if rules.strict_compat else lambda reply: choice(reply, verdicts)",
        "",
        "a verdict word anywhere in a reply counts",
    ),
    Mutation(
        "webarena/grading.py",
        '{"INCORRECT": False, "PARTIALLY CORRECT": False, "CORRECT": True}',
        '{"CORRECT": True, "INCORRECT": False, "PARTIALLY CORRECT": False}',
        "published: incorrect reads as correct",
    ),
    Mutation(
        "webarena/grading.py",
        'reference, "answer": answer',
        'answer, "answer": reference',
        "reference and answer are exchanged",
    ),
    Mutation(
        "webarena/reward.py", "(False, True", "(True, False", "the grader is asked first, and whatever else holds"
    ),
    Mutation(
        "webarena/reward.py", "all(holds for _, holds in facts)\n", "facts[-1][1]\n", "only the last check counts"
    ),
    Mutation("webarena/reward.py", "self.strict_compat and holds", "holds", "a reason makes up for checks that failed"),
    Mutation(
        "webarena/reward.py",
        ' "None" if self.strict_compat and "error" not in found else',
        "",
        "published: what finds nothing is an empty text",
    ),
    Mutation(
        "webarena/reward.py",
        "(value is None or (self.strict_compat and not value))",
        "not value",
        "a lambda that found 0 fails in repaired WebArena-Lite",
    ),
]


def tests_of(folder: str) -> list[str]:
    """The modules of tests of a folder of `webdojo/reward`, in the order in which they are run."""
    last, left_out = ({f"test_{name}" for name in names.get(folder, [])} for names in (LAST, LEFT_OUT))
    modules = sorted((HERE / folder).glob("test_*.py"), key=lambda module: (module.stem in last, module))
    return [str(module.relative_to(ROOT)) for module in modules if module.stem not in left_out]


def killed(mutation: Mutation) -> bool:
    """Whether the tests notice a mutation."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / "webdojo" / "reward" / mutation.file
        text = file.read_text()
        assert text.count(mutation.right) == 1, f"{mutation} stands there {text.count(mutation.right)} times"
        file.write_text(text.replace(mutation.right, mutation.wrong))
        tests = tests_of(mutation.file.rpartition("/")[0])
        run = subprocess.run(
            [sys.executable, "-m", "pytest", *tests, "-x", "-q", "-p", "no:cacheprovider"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"},
            capture_output=True,
        )
        assert run.returncode in (0, 1), run.stdout.decode()[-2000:]
        return run.returncode == 1


if __name__ == "__main__":
    survivors = [mutation for mutation in MUTATIONS if not killed(mutation)]
    for each in survivors:
        print(f"not noticed: {each.breaks} ({each.file}: {each.right} -> {each.wrong})")
    print(f"{len(MUTATIONS) - len(survivors)} of {len(MUTATIONS)} wrong evaluators were noticed")
    sys.exit(bool(survivors))
