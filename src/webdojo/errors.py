"""Errors that a user can act on.

The CLI prints a `WebdojoError` as one line without a traceback, so its message says what is
wrong, the value, where the value came from and what to do. Broken invariants of our own code
are `assert`s instead.
"""


class WebdojoError(Exception):
    """Base of every error that a user can act on."""


class ConfigError(WebdojoError):
    """A recipe, an override or a command-line value is wrong."""


class BrowserError(WebdojoError):
    """No browser can be started, or one failed in a way that its session cannot survive."""


class StartError(BrowserError):
    """The session could not be brought to its start URL; the episode never began."""


class SiteError(WebdojoError):
    """A request for an embedded site that does not exist."""


class TaskError(WebdojoError):
    """A task record is malformed or names something that does not exist."""


class ModelError(WebdojoError):
    """A model folder is missing, corrupt, or of a kind that has no registered layout."""


class EngineError(WebdojoError):
    """The policy engine failed a request (out of memory, shut down)."""


class StoreError(WebdojoError):
    """The run folder cannot be created, read or written."""


class TrainError(WebdojoError):
    """Training cannot go on: no effective groups, or numbers that are no longer finite."""
