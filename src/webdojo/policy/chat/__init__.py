"""Models behind any OpenAI-compatible endpoint: `engine` is the `Engine` for episodes, `client` asks for judges.

An endpoint gives no token ids and no log-probabilities of ours, so its responses can be imitated (SFT), but online RL
must not train on them: their `logprobs` are zeros.
"""
