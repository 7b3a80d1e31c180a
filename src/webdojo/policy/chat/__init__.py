"""Models behind any OpenAI-compatible endpoint: teachers, proprietary agents, judges.

`engine` is the `Engine` for episodes, `client` the plain `complete` for judges. What they have in common:
keys come from the environment and are written nowhere, a budget is never overspent, and every failure is
one `EngineError` line.

An endpoint gives no token ids and no log-probabilities of ours, so its responses can be imitated
(SFT), but online RL must not train on them: their `logprobs` are zeros.
"""
