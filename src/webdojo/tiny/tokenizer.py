"""The tiny model's tokenizer, trained on the project's own words in their usual places.

Every word of the compact pages should be one token after a space, at the start of a line and inside
a URL; the system prompt and the browser's feedback should be short. Digits are one token each, and the fixed text of a
tool call is a few added tokens, so that a click costs about ten tokens to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from webdojo.agent import toolcall
from webdojo.agent.harness import Codec
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.policy.model.processor import Processor
from webdojo.sites import COMPACT_KINDS
from webdojo.sites.content.words import ADJECTIVES, SHOP_NOUNS, WIKI_NOUNS, compact_vocabulary, plural, slug
from webdojo.sites.kinds import load_site
from webdojo.sites.taskgen import make_tasks
from webdojo.types import ToolCall

VOCABULARY = 2200
"""The most tokens."""
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
    "Price of {name} is $24. Done. yes no find read value see name kind goal here",
)
CALLS = (
    [ToolCall(name="click", arguments={"x": 450, "y": 250})],
    [ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})],
    [ToolCall(name="scroll", arguments={"direction": "up", "amount": 0.5})],
    [ToolCall(name="press_keys", arguments={"keys": ["Enter"]})],
    [ToolCall(name="done", arguments={"answer": "done"})],
)


def build_tokenizer(shipped: Processor) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer for today's words, with the splitting rule and the added tokens of the shipped one."""
    rules, added = shipped.tokenizer.backend_tokenizer, list(shipped.tokenizer.added_tokens_decoder.values())
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer, tokenizer.pre_tokenizer = rules.normalizer, rules.pre_tokenizer
    tokenizer.decoder = rules.decoder
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(added),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(shipped), trainer)
    tokenizer.add_special_tokens([token for token in added if token.special])
    tokenizer.add_tokens([token for token in added if not token.special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )


def corpus(codec: Codec) -> Iterator[str]:
    """Lines of training text, each repeated according to how often the model meets it."""
    system = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), codec).system_prompt()
    yield from [system] * 200
    for word in compact_vocabulary():
        yield from [f"{word} {word}", f"{word.upper()} {word.lower()}"] * 20
    for adjective, noun in product(ADJECTIVES, SHOP_NOUNS + WIKI_NOUNS):
        name = f"{adjective} {noun}"
        host, query = f"{COMPACT_KINDS[len(name) % len(COMPACT_KINDS)]}-17.localhost", slug(name).replace("-", "+")
        url = f"url http://{host}/p/{slug(name)}?q={query}&page=2\nscroll 0/160"
        for text in (*FEEDBACK, *THOUGHTS):
            yield text.format(name=name, noun=noun, nouns=plural(noun), url=url)
        for calls in CALLS:
            yield toolcall.render(f"{name} is in view.", calls)
    for kind in COMPACT_KINDS:
        for path in load_site(kind, 0, "compact").paths():
            yield from [f"url http://{kind}-3.localhost{path}\n"] * 5
    for task in make_tasks(list(COMPACT_KINDS), range(50), 2000, seed=0, layout="compact"):
        yield f"task {task.instruction}\n"
