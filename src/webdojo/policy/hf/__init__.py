"""The embedded engine: a `transformers` model in this process that serves many episodes at once.

`engine` takes requests and owns the worker thread; `running_batch` holds the requests that decode together; `kv_cache`
has their keys and values, and what prompts have in common; `decode` is the fast step, `request` draws tokens.
"""
