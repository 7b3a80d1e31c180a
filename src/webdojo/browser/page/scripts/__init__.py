"""The scripts that run inside pages, each a function in a file of its own; `parts/` has what several of them share."""

import re
from importlib.resources import files


class Script(str):
    """The source of a script of ours. A world of scripts keeps it, so that a document is sent it once."""


def script(name: str) -> Script:
    """Read a script, with the parts that its lines `// include parts/…` name in their place."""
    text = files(__name__).joinpath(name).read_text("utf-8")
    return Script(re.sub(r"^ *// include (\S+)$", lambda line: script(line[1]), text, flags=re.MULTILINE))
