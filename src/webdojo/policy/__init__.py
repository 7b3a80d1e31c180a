"""Policies: everything that answers a `Prompt` with a `Response` (the `Engine` protocol).

`hf` serves a `transformers` model in this process, `vllm` does so by servers of its own, `chat` asks an API, and
`scripted` says what a script decides. `model` is what engine and learner share: the same forward pass, so that the same
weights give the same logprobs in both.
"""
