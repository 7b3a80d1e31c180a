"""The tiny model's tokenizer, trained on the project's own words in their usual places.

Every word of the compact pages should be one token after a space, at the start of a line and inside
a URL; the system prompt and the browser's feedback should be short. Digits are one token each, and the fixed text of a
tool call is a few added tokens, so that a click costs about ten tokens to write.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from webdojo.agent import toolcall
from webdojo.agent.harness import Codec
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.policy.model.processor import Processor
from webdojo.sites.content.words import plural, slug
from webdojo.sites.kinds import load_site
from webdojo.sites.taskgen import make_tasks
from webdojo.tiny.vocabulary import Vocabulary
from webdojo.types import ToolCall

TOKENS, TOKENS_OF_A_KIND = 1800, 230
"""The most tokens, besides those of each kind of site."""
NAMES = 1280
"""How many names of things it learns from."""
PAGES = ("p", "a", "item")
FEEDBACK = (
    'click at (450, 250) on <a> "{name}": page is now {url}',
    'click at (450, 250) on <button> "{name}": page is now {url}',
    'click at (450, 250) on <input> "{name}": field is focused',
    'click at (450, 250) on <div> "{name}": nothing visible changed',
    'write "{name}" into <input> "Search"',
    "press_keys Enter: page is now {url}",
    "scroll down 0.5: page is now at 50%",
    "scroll up 0.5: nothing moved, already at the top, at the bottom, everything is in view",
    "Failed: wait Error: no <think> end tag, no tool call, unknown tool, arguments",
)
THOUGHTS = (
    "{name} is in view. Open it.",
    "{name} is not in view. Scroll down. Scroll up. Go home.",
    "{name} is a {noun}. Open {nouns}.",
    "{name} is not here. The Cart has {name}.",
    "This is {name}. Press Buy. Done.",
    "This is page 2 of {nouns}. Results for {name}. {nouns} are Red.",
    "Search is in view. Write {name}.",
    "Price of {name} is $24. Done. yes no find read value see name kind goal here more",
    "Stock of {name} is 24. 35 and 24. 35 is higher. It is on another site. The form is filled in. Press Star.",
    "{name} is done. {name} are done. Open {nouns}.",
)
CALLS = (
    [ToolCall(name="click", arguments={"x": 450, "y": 250})],
    [ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})],
    [ToolCall(name="scroll", arguments={"direction": "up", "amount": 0.5})],
    [ToolCall(name="press_keys", arguments={"keys": ["Enter"]})],
    [ToolCall(name="done", arguments={"answer": "done"})],
)


def build_tokenizer(shipped: Processor, known: Vocabulary) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer for these words, with the splitting rule and the added tokens of the shipped one."""
    rules, added = shipped.tokenizer.backend_tokenizer, list(shipped.tokenizer.added_tokens_decoder.values())
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer, tokenizer.pre_tokenizer = rules.normalizer, rules.pre_tokenizer
    tokenizer.decoder = rules.decoder
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS + TOKENS_OF_A_KIND * len(known.kinds) - len(added),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(shipped, known), trainer)
    tokenizer.add_special_tokens([token for token in added if token.special])
    tokenizer.add_tokens([token for token in added if not token.special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )


def corpus(codec: Codec, known: Vocabulary) -> Iterator[str]:
    """Lines of training text, each repeated according to how often the model meets it."""
    system = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), codec).system_prompt()
    yield from [system] * 200
    for word in known.words:
        yield from [f"{word} {word}", f"{word.upper()} {word.lower()}"] * 80
    for name in random.Random(0).sample(known.names, NAMES):
        noun = name.split()[1]
        host, query = f"{known.kinds[len(name) % len(known.kinds)]}-17.localhost", slug(name).replace("-", "+")
        url = f"url http://{host}/{PAGES[len(name) % len(PAGES)]}/{slug(name)}?q={query}&page=2\nscroll 0/160"
        for text in (*FEEDBACK, *THOUGHTS):
            yield text.format(name=name, noun=noun, nouns=plural(noun), url=url)
        for calls in CALLS:
            yield toolcall.render(f"{name} is in view.", calls)
    for kind in known.kinds:
        for path in load_site(kind, 0, "grid").paths():
            yield from [f"url http://{kind}-3.localhost{path}\n"] * 5
    for task in make_tasks(known.kinds, range(50), 1000 * len(known.kinds), seed=0, layout="grid"):
        yield f"task {task.instruction}\n"
