"""Policies: everything that answers a `Prompt` with a `Response` (the `Engine` protocol).

`processor` turns text and screenshots into what a model reads, `collate` and `forward` score
token sequences for the learner, `hf` serves a `transformers` model to concurrent episodes and `vllm`
does so by servers of its own.
Engine and learner share `forward`, so the same weights give the same logprobs in both.
"""
