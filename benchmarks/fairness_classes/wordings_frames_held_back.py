"""The half of the classes of `wordings_frames.py` that is held back."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short, within


@wording(*SAID, "missing", "refused")
def as_yaml(said: Answer, rng: random.Random) -> str:
    """Two keys on two lines."""
    first = "status: complete" if said.sort in SAID else f"source: {said.url}"
    return f"{first}\nanswer: {short(said)}"


@wording(*SAID, "missing", "refused")
def after_thoughts_in_tags(said: Answer, rng: random.Random) -> str:
    """Thoughts between tags, and then the answer."""
    return f"<think>{said.steps}. Now I can answer.</think>\n\n{sentence(said)}."


@wording(*SAID)
def as_a_call(said: Answer, rng: random.Random) -> str:
    """The call by which agents give their answer."""
    return f"{rng.choice(('send_msg_to_user', 'finish', 'answer'))}({json.dumps(short(said), ensure_ascii=False)})"


@wording(*SAID)
def in_italics_or_a_quote(said: Answer, rng: random.Random) -> str:
    """Other markdown than bold; a number is not quoted, as the sign of a quote is also that of more."""
    quote = [] if said.number is not None else [f"> {short(said)}"]
    return rng.choice((f"_{short(said)}_", f"*{short(said)}*", *quote))


@wording(*SAID, "missing", "refused")
def after_a_sign(said: Answer, rng: random.Random) -> str:
    """A sign before the answer."""
    return f"{rng.choice(('✅', '👉', '➡️', '📌'))} {short(said)}"


@wording(*SAID)
def here_is_what_you_requested(said: Answer, rng: random.Random) -> str:
    """A phrase with a colon."""
    return f"Here is the information that you requested: {short(said)}."


@wording(*SAID, "missing", "refused")
def in_short(said: Answer, rng: random.Random) -> str:
    """A word that says that it is short."""
    return f"{rng.choice(('TL;DR:', 'In short:', 'Summary:', 'Conclusion:'))} {sentence(said)}."


@wording(*SAID)
def confirmed(said: Answer, rng: random.Random) -> str:
    """With certainty."""
    return f"{rng.choice(('Confirmed', 'I am certain', 'I double-checked this'))}: {short(said)}."


@wording(*SAID, "missing", "refused")
def as_in_a_chat(said: Answer, rng: random.Random) -> str:
    """As one writes to a friend."""
    return f"hey, so {within(sentence(said))} 🙂"


@wording(*SAID)
def with_an_exclamation_mark(said: Answer, rng: random.Random) -> str:
    """An exclamation mark at the end."""
    return f"{short(said)}!"


@wording(*SAID, "missing", "refused")
def as_html(said: Answer, rng: random.Random) -> str:
    """Tags of HTML around a sentence."""
    return f"<p>{sentence(said)}.</p>"


@wording(*SAID)
def in_short_and_in_full(said: Answer, rng: random.Random) -> str:
    """The answer in short, and once more in a sentence."""
    return f"{short(said)}\n\nIn full: {sentence(said)}."


@wording(*SAID)
def after_hashes(said: Answer, rng: random.Random) -> str:
    """The signs that end solutions of school problems."""
    return f"{said.steps}.\n#### {short(said)}"


@wording(*SAID, "missing", "refused")
def with_white_space(said: Answer, rng: random.Random) -> str:
    """Spaces and empty lines around it."""
    return f"\n\n  {short(said)}  \n"


@wording(*SAID)
def in_code(said: Answer, rng: random.Random) -> str:
    """The marks of code around the answer alone."""
    return rng.choice((f"`{short(said)}`", f"```\n{short(said)}\n```"))


@wording(*SAID)
def between_rules(said: Answer, rng: random.Random) -> str:
    """A line above and a line below the answer."""
    return f"---\n\n{short(said)}\n\n---"


@wording(*SAID, "missing", "refused")
def as_a_nested_object(said: Answer, rng: random.Random) -> str:
    """An object within an object, with the source of the answer."""
    return json.dumps({"result": {"answer": short(said), "source": said.url}}, ensure_ascii=False)


@wording(*SAID)
def bold_within_the_sentence(said: Answer, rng: random.Random) -> str:
    """A plain sentence in which the answer alone is bold."""
    if said.sort == "count":
        return f"There {'is' if said.number == 1 else 'are'} **{said.number}** {said.called}."
    marked = replace(
        said,
        value=f"**{said.value}**",
        thing=f"“{said.thing}”",
        two=tuple((f"**{name}**" if i == 0 else name, value) for i, (name, value) in enumerate(said.two)),
        names=tuple((f"**{name}**", value) for name, value in said.names),
    )
    return f"{sentence(marked)}."


@wording(*SAID)
def in_small_letters(said: Answer, rng: random.Random) -> str | None:
    """The answer without capitals, as one types in haste; not so a code or a unit, where capitals count."""
    if said.sort == "value" and not said.day and any(map(str.isdigit, said.value)):
        return None
    text = short(said).lower()
    return text if text != short(said) else None


@wording(*SAID)
def with_full_width_signs(said: Answer, rng: random.Random) -> str:
    """The colon, the brackets and the full stop of a Chinese keyboard."""
    colon = "\N{FULLWIDTH COLON}"
    return rng.choice((f"Answer{colon}{short(said)}。", f"Final answer{colon}【{short(said)}】", f"{sentence(said)}。"))


@wording(*SAID)
def text_in_a_box_of_latex(said: Answer, rng: random.Random) -> str:
    """A formula with a box that has the answer as text, with backslashes before the signs that LaTeX keeps."""
    text = re.sub(r"([$%&#_])", r"\\\1", short(said))
    return f"The final answer is $\\boxed{{\\text{{{text}}}}}$."
