"""The documentation agrees with the code and with itself."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def test_the_recipe_reference_is_what_the_code_says():
    command = [sys.executable, "scripts/recipe_reference.py"]
    written = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs" / "recipes.md").read_text() == written, "run: make docs"
    assert "`rollout.sampling.temperature`" in written
    assert "Trajectories a task (G)" in written


def test_the_paper_index_is_what_recipes_and_code_say():
    command = [sys.executable, "scripts/paper_index.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (ROOT / "docs" / "papers.md").read_text() == done.stdout, "run: make docs"


ROW = {"at": "Table 7", "what": "Group size", "says": 5, "key": "rollout.group_size"}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (ROW | {"says": 6}, "rollout.group_size of openwebrl is 5, the paper says [6]"),
        (ROW | {"key": "rollout.groupsize"}, "openwebrl has no key rollout.groupsize"),
        (ROW | {"here": 4, "differs": "smaller"}, "rollout.group_size of openwebrl is 5, not 4"),
        (ROW | {"here": 5, "differs": "smaller"}, "rollout.group_size of openwebrl does not differ"),
        (ROW | {"code": "trainer/losses.py:ppo"}, "trainer/losses.py has no ppo"),
        (ROW | {"a lost part": None}, "unknown: a lost part; quote a text with a comma"),
        ({"at": "§4", "what": "It"}, "it says neither key, code nor missing"),
        (ROW, "openwebrl has train.lr without a citation"),
    ],
)
def test_the_paper_index_refuses_what_does_not_hold(row, problem, tmp_path):
    every = yaml.safe_load((ROOT / "docs/papers/openwebrl.yaml").read_text())
    rest = [each for each in every["rows"] if each.get("key") != ("train.lr" if row is ROW else "rollout.group_size")]
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(every | {"rows": [*rest, row]}))
    with pytest.raises(ValueError, match=re.escape(problem)):
        list(runpy.run_path(str(ROOT / "scripts/paper_index.py"))["page"](tmp_path / "p.yaml"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()]
    assert not missing


LOOKED_UP = {"recipes", "papers", "glossary", "protocols", "api"}
"""Pages that nobody reads from end to end."""


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_is_read_in_one_go(page):
    assert page.stem in LOOKED_UP or len(page.read_text().split()) <= 1500


def test_the_page_about_an_own_application_quotes_one_that_works():
    page = (ROOT / "docs" / "your-own-app.md").read_text()
    code = "\n".join(file.read_text() for file in sorted((ROOT / "tests/envs/apps/library").glob("*.py")))
    quoted = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(quoted) == 2
    assert all(block in code for block in quoted)
    assert len(code.splitlines()) < 150


def test_the_site_has_every_page_in_its_navigation():
    shown = re.findall(r"- (?:.*: )?([\w-]+)\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} <= set(shown)


def test_make_help_names_every_target_that_contributors_use():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tests = ("check", "test", "test-slow", "test-apps", "fuzz", "crash", "lint")
    for target in ("setup", "train", *tests, "fmt", "docs", "clean"):
        assert re.search(rf"^  make {target} +\w", done, re.MULTILINE)


def test_continuous_integration_runs_make_test():
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111, "not executable"
    assert re.search(r"^make test$", script.read_text(), re.MULTILINE)
    dry = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for tool in ("ruff check", "mypy", "pytest", "scripts/setup.sh"):
        assert tool in dry


def test_the_tiers_of_tests_name_files_that_exist():
    from tests.conftest import INTEGRATION, SLOW, named

    assert [path for path in named(SLOW) | named(INTEGRATION) if not path.is_file()] == []
    assert not named(SLOW) & named(INTEGRATION)


@pytest.mark.slow
def test_the_site_builds_without_a_warning_or_a_dead_link():
    subprocess.run(["make", "docs-site"], cwd=ROOT, check=True, timeout=600)
    assert (ROOT / "site" / "api" / "index.html").is_file()
