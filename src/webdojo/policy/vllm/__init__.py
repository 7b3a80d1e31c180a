"""vLLM as the policy's engine: servers that answer episodes and follow a learner's weights.

`engine` is what loops use; `replica` speaks with one server and `server` is its process; `wire` has requests and
responses, and `weight_files` what servers read new weights from.
`launch` and `plugin` run in vLLM's own process and may import nothing of ours but each other.
"""
