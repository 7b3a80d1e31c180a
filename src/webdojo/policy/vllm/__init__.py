"""vLLM as the policy's engine: servers that answer episodes and follow a learner's weights.

`engine` is what loops use; `replica` speaks with one server, and `server` is its process and the files of new weights
that it reads; `wire` has requests and responses.
`launch` and `plugin` run in vLLM's own process and may import nothing of ours but each other.
"""
