"""webdojo as a Gymnasium environment, for people with a trainer of their own.

`import webdojo.gym` registers `webdojo/Browser-v0`; `gymnasium.make("webdojo.gym:webdojo/Browser-v0")` does so by
itself. Needs the extra `webdojo[gym]`.
"""

try:
    import gymnasium
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "webdojo.gym needs Gymnasium, which is not installed: pip install 'webdojo[gym]'"
    ) from None

from webdojo.gym.env import BrowserEnv
from webdojo.gym.spaces import ACTION_SPACE, to_action, to_call

ENV_ID = "webdojo/Browser-v0"

__all__ = ["ACTION_SPACE", "ENV_ID", "BrowserEnv", "to_action", "to_call"]

# A live page may differ between two visits with the same seed (carets blink, the web changes).
gymnasium.register(id=ENV_ID, entry_point="webdojo.gym.env:BrowserEnv", nondeterministic=True)
