"""What the site of the documentation has beside docs/, and where its links lead: a hook of mkdocs.

Pages that stand elsewhere in the repository are pages of the site, too. A link to a file that is none is plain text.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
ELSEWHERE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "figures.md",
    "deploy/README.md": "deploy.md",
}
"""Pages of the site by where they stand in the repository."""
GALLERY = "# How the sites look\n\n[The gallery](gallery.html) shows a page of each kind in each of its looks.\n"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    for source, page in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    files.append(File.generated(config, "gallery.md", content=GALLERY))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The text with links that lead to pages and files of the site."""
    sources = {page_: source for source, page_ in ELSEWHERE.items()}
    here = posixpath.dirname(sources.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def led(link: re.Match[str]) -> str:
        shown, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        if re.match(r"[a-z]+:", target):
            return link[0]
        place = posixpath.normpath(posixpath.join(here, target))
        found = ELSEWHERE.get(place, place.removeprefix("docs/"))
        if place.startswith("docs/") or place in ELSEWHERE:
            return f"{shown}[{text}]({os.path.relpath(found, posixpath.dirname(page.file.src_uri) or '.')}{anchor})"
        return text

    return LINK.sub(led, markdown)
