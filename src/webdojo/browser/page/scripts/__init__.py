"""The scripts that run inside pages, each a function in a file of its own; `parts/` has what several of them share."""

import re
from importlib.resources import files


def script(name: str) -> str:
    """Read a script, with the parts that its lines `// include parts/…` name in their place."""
    text = files(__name__).joinpath(name).read_text("utf-8")
    return re.sub(r"^ *// include (\S+)$", lambda line: script(line[1]), text, flags=re.MULTILINE)
