"""Draw the pictures of the documentation again: `make docs-pictures` does it, and takes the screenshots too.

    python -m scripts.pictures [--record] [NAME …]

`--record` first plays the episodes again that pictures show, in a browser.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib

from scripts.pictures import NAMES, file_of
from scripts.pictures.record import record


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true", help="play the recorded episodes again")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all without one")
    given = parser.parse_args()
    if given.record:
        asyncio.run(record())
    for name in given.names or NAMES:
        svg: str = importlib.import_module(f"scripts.pictures.{name}").picture()
        file_of(name).write_text(svg)
        print(f"{file_of(name).name}: {len(svg) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
