"""vLLM as the policy's engine: servers that answer episodes and follow a learner's weights.

`engine` is what loops use; `replica` speaks with one server and `server` is its process; `wire` turns
prompts into requests and answers into responses; `weight_files` lays new weights where servers read them, in a folder
that a kill does not leave for ever.
`launch` and `plugin` run in vLLM's own process and may import nothing of ours but each other.
"""
