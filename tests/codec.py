"""A small real tokenizer, trained on the spot, as the `Codec` of tests that need no model."""

from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from webdojo.agent.chatml import CHATML
from webdojo.browser.tools import TOOLS, signature

SPECIALS = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>"]
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
IMAGE_ID = SPECIALS.index("<|image_pad|>")


class SmallCodec:
    """Counts and records what it encodes, so that tests can see what is tokenised when."""

    chat = CHATML

    def __init__(self) -> None:
        self._tokenizer = _trained()
        self.encoded: list[str] = []

    def encode(self, text: str) -> list[int]:
        self.encoded.append(text)
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def image_tokens(self, width: int, height: int) -> int:
        return round(width / 32) * round(height / 32)


@cache
def _trained() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=[AddedToken(token, special=True) for token in SPECIALS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = [signature(name) for name in TOOLS] + ['{"name": "click", "arguments": {"x": 1, "y": 2}}'] * 20
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_tokens([AddedToken(tag, special=False) for tag in TAGS])
    return tokenizer
