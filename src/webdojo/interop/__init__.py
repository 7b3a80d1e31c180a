"""Adapters: webdojo's environments in trainers of other projects, and for their agents (docs/interop.md).

`host` runs episodes for whoever has the policy; each adapter translates between it and one project's interface, and
imports that project's package alone, which is an extra of the same name. BrowserGym's is none, because it fixes a
Playwright that is older than ours.
"""

from importlib.util import find_spec


def check_installed(package: str, install: str) -> None:
    """Raise a ModuleNotFoundError that says how a package is installed, where it is not."""
    if find_spec(package) is None:
        raise ModuleNotFoundError(f"{package} is not installed: {install}", name=package)
