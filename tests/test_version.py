"""The version is the same wherever it stands, the tag of a release included."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from webdojo.version import __version__

ROOT = Path(__file__).parent.parent


def test_the_citation_names_the_version():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_a_commit_with_a_tag_is_the_release_that_the_tag_names():
    command = ["git", "tag", "--points-at", "HEAD", "--list", "v*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    tags = done.stdout.split()
    if not tags:
        pytest.skip("no tag points here")
    assert tags == [f"v{__version__}"]
    assert f"\n## {__version__} - " in (ROOT / "CHANGELOG.md").read_text(), "call its Unreleased by version and date"
