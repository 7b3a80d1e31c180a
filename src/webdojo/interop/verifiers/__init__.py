"""webdojo as a taskset of `verifiers`, by the name `webdojo`, for prime-rl and its tools (extra `webdojo[verifiers]`).

`taskset` gives the tasks and starts the browsers, `harness` is the agent's loop between model and browser.
"""

from webdojo.interop import check_installed

check_installed("verifiers", "pip install 'webdojo[verifiers]'")
