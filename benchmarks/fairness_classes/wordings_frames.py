"""What stands around an answer of any sort: politeness, markdown, explanations."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short, within


@wording(*SAID)
def bare(said: Answer, rng: random.Random) -> str:
    """Nothing but the answer."""
    return short(said)


@wording(*SAID, "missing", "refused")
def a_plain_sentence(said: Answer, rng: random.Random) -> str:
    """A sentence that says what the answer is."""
    return f"{sentence(said)}."


@wording(*SAID, "missing", "refused")
def according_to_the_site(said: Answer, rng: random.Random) -> str:
    """A sentence that names its source."""
    return f"According to the site, {within(sentence(said))}."


@wording(*SAID, "missing", "refused")
def as_json(said: Answer, rng: random.Random) -> str:
    """The answer as a JSON object."""
    return json.dumps({rng.choice(("answer", "result", "final_answer")): short(said)}, ensure_ascii=False)


@wording(*SAID, "missing", "refused")
def after_the_word_answer(said: Answer, rng: random.Random) -> str:
    """The answer after a label."""
    return f"{rng.choice(('Answer', 'ANSWER', 'Result'))}: {short(said)}"


@wording(*SAID, "missing", "refused")
def after_how_it_was_found(said: Answer, rng: random.Random) -> str:
    """An explanation of how it was found, and then the answer."""
    return f"{said.steps}. {sentence(said)}."


@wording(*SAID)
def it_is(said: Answer, rng: random.Random) -> str:
    """The answer after `It is`."""
    start = "They are" if said.sort == "names" else rng.choice(("It is", "It’s", "It's", "That would be"))
    return f"{start} {short(said)}."


@wording(*SAID)
def in_capitals(said: Answer, rng: random.Random) -> str | None:
    """The answer in capitals."""
    text = short(said).upper()
    return text if text != short(said) else None


@wording(*SAID)
def bold(said: Answer, rng: random.Random) -> str:
    """The answer in bold markdown, alone or in a sentence."""
    return rng.choice((f"**{short(said)}**", f"The answer is **{short(said)}**."))


@wording(*SAID)
def in_a_box(said: Answer, rng: random.Random) -> str:
    """The answer in a box, as models trained on mathematics say it."""
    return f"\\boxed{{{short(said)}}}"


@wording(*SAID, "missing", "refused")
def in_tags(said: Answer, rng: random.Random) -> str:
    """The answer between tags."""
    return f"<answer>{short(said)}</answer>"


@wording(*SAID, "missing", "refused")
def politely(said: Answer, rng: random.Random) -> str:
    """With an opening and a closing phrase."""
    return f"Sure! {sentence(said)}. {rng.choice(('Let me know if you need anything else.', 'I hope this helps!'))}"


@wording(*SAID)
def after_a_statement_of_the_task(said: Answer, rng: random.Random) -> str:
    """What was to be found in other words, and then the answer."""
    return f"The task was: {said.restated} I looked it up. The answer: {short(said)}."


@wording(*SAID)
def with_the_address(said: Answer, rng: random.Random) -> str:
    """The answer with the address where it was found."""
    return f"{short(said)} (source: {said.url})"


@wording(*SAID)
def in_quotation_marks(said: Answer, rng: random.Random) -> str:
    """The answer in quotation marks."""
    return rng.choice(("“{}”", '"{}"', "'{}'")).format(short(said))


@wording(*SAID)
def as_a_heading_and_a_list(said: Answer, rng: random.Random) -> str:
    """Markdown with a heading and a bullet."""
    return f"## Result\n\n- {sentence(said)}."


@wording(*SAID, "missing", "refused")
def as_json_in_a_code_block(said: Answer, rng: random.Random) -> str:
    """An object on several lines in a code block."""
    return f"```json\n{json.dumps({'answer': short(said)}, indent=2, ensure_ascii=False)}\n```"


@wording(*SAID, "missing", "refused")
def as_json_with_reasons(said: Answer, rng: random.Random) -> str:
    """An object with thoughts before the answer."""
    return json.dumps({"reasoning": said.steps, "answer": short(said)}, ensure_ascii=False)


@wording(*SAID, "missing", "refused")
def after_numbered_steps(said: Answer, rng: random.Random) -> str:
    """What was done in numbered steps, and then the answer."""
    return f"Steps taken:\n1. Opened the website.\n2. {said.steps}.\n3. Read the page.\n\n**Answer:** {short(said)}"


@wording(*SAID, "missing", "refused")
def as_a_dialogue(said: Answer, rng: random.Random) -> str:
    """Question and answer, each with its letter."""
    return f"Q: {said.instruction}\nA: {short(said)}"


@wording(*SAID, "missing", "refused")
def and_changed_nothing(said: Answer, rng: random.Random) -> str:
    """The answer, and that the site is as it was."""
    return f"{sentence(said)}. I have not changed anything on the site."


@wording(*SAID, "missing", "refused")
def with_a_footnote(said: Answer, rng: random.Random) -> str:
    """A number in brackets behind the sentence, which stands for the source below."""
    return f"{sentence(said)}.[1]\n\n[1]: {said.url}"


@wording(*SAID, "missing", "refused")
def it_turns_out(said: Answer, rng: random.Random) -> str:
    """The answer in a clause after `that`."""
    start = rng.choice(("It turns out that", "I found out that", "What I learned is that"))
    return f"{start} {within(sentence(said))}."


@wording(*SAID, "missing", "refused")
def as_a_letter(said: Answer, rng: random.Random) -> str:
    """A salutation before the answer, and a signature behind it."""
    return f"Dear user,\n\n{sentence(said)}.\n\nBest regards,\nYour assistant"


@wording(*SAID)
def a_tool_call_with_the_answer(said: Answer, rng: random.Random) -> str:
    """The call of a tool as models write it, with the answer as one of its arguments."""
    computer = {"name": "computer_use", "arguments": {"action": "answer", "text": short(said)}}
    browser = {"action": [{"done": {"text": short(said), "success": True}}]}
    return rng.choice(
        (
            f"<tool_call>\n{json.dumps(computer, ensure_ascii=False)}\n</tool_call>",
            json.dumps(browser, ensure_ascii=False),
        )
    )


@wording(*SAID, "missing", "refused")
def a_thought_and_a_final_answer(said: Answer, rng: random.Random) -> str:
    """The two labels by which agents that reason in words end."""
    return f"Thought: {said.steps}. I now know the answer.\nFinal Answer: {short(said)}"
