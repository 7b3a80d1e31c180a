"""The applications themselves: installed from the package registry, their tasks done in a real Chromium.

One that needs packages of Debian is tested where they are installed; which those are, the reason for skipping says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.envs.apps.playing import followed, play, seconds_to_visit
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.apps.application import Application, Home
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.labelstudio import LabelStudio
from webdojo.envs.apps.machina import Machina
from webdojo.envs.apps.mediawiki import MediaWiki
from webdojo.envs.apps.oscar import Oscar
from webdojo.envs.apps.registry import APPLICATIONS
from webdojo.envs.apps.trac import Trac
from webdojo.envs.apps.wagtail import Wagtail
from webdojo.store.images import MemoryImages
from webdojo.types import Task


def marked(application: type[Application], *more: str) -> ParameterSet:
    """The parameters of a test of an application, which is skipped where packages of Debian are missing."""
    lacking = application().lacking
    skip = pytest.mark.skipif(bool(lacking), reason=f"needs {', '.join(lacking)}: {application().apt}")
    return pytest.param(application.name, *more, marks=skip)


TESTED: tuple[type[Application], ...] = (LabelStudio, Machina, MediaWiki, Oscar, Trac, Wagtail)
CONFIG = BrowserConfig(viewport_px=(1280, 1000))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apps")


def installed(name: str, folder: Path) -> Apps:
    """The environment with an application, which is installed if it is not yet."""
    Home(APPLICATIONS.get(name)(), folder).install()
    return Apps(applications=[name], folder=str(folder), train_seeds=1)


def drawn(name: str, template: str) -> Sequence[Task]:
    return Apps(applications=[name], templates=[template], train_seeds=1).tasks("train", 2, 1)


@pytest.mark.parametrize("name", [marked(each) for each in TESTED])
async def test_a_visit_begins_in_about_a_second(folder: Path, name: str) -> None:
    env = installed(name, folder)
    task = env.tasks("train", 1, 0)[0]
    async with env:
        assert await seconds_to_visit(env, task) < 1


@pytest.mark.parametrize(
    ("name", "template"),
    [marked(each, name) for each in TESTED for name, template in each.templates.items() if not template.beside],
)
async def test_the_oracle_does_a_task_which_is_no_other_one(folder: Path, name: str, template: str) -> None:
    task, other = drawn(name, template)
    idle = followed(task, [{"do": "done", "answer": "Done"}])
    env = installed(name, folder)
    async with env, BrowserPool(CONFIG, MemoryImages(), env.hosts) as pool:
        verdict, near, log = await play(task, env, pool, other)
        assert verdict.success, log
        assert not near[0].success, log
        assert not (await play(idle, env, pool))[0].success


@pytest.mark.parametrize("template", [each.name for each in Trac.templates.values() if each.beside])
async def test_the_oracle_does_a_task_across_two_applications(folder: Path, template: str) -> None:
    for application in (Oscar(), Trac()):
        Home(application, folder).install()
    env = Apps(applications=["trac", "oscar"], templates=[template], folder=str(folder), train_seeds=1)
    task, other = env.tasks("train", 2, 1)
    idle = followed(task, [{"do": "done", "answer": "Done"}])
    more = [
        {"do": "go", "path": f"http://oscar-{task.metadata['seed']}.localhost/dashboard/"},
        *drawn("oscar", "note")[0].metadata["plan"][:-1],
        {"do": "go", "path": "/"},
    ]
    both = followed(task, [*more, *task.metadata["plan"]])
    async with env, BrowserPool(CONFIG, MemoryImages(), env.hosts) as pool:
        verdict, near, log = await play(task, env, pool, other)
        assert verdict.success, log
        assert not near[0].success, log
        assert not (await play(idle, env, pool))[0].success
        verdict, _, log = await play(both, env, pool)
        assert not verdict.success and "which was not asked for" in verdict.reason, log


@pytest.mark.parametrize(
    ("name", "template", "more"),
    [
        marked(LabelStudio, "customer", "create"),
        marked(LabelStudio, "annotate", "phone"),
        marked(Machina, "last", "signature"),
        marked(Machina, "reply", "vote"),
        marked(Machina, "lock", "publish"),
        marked(Oscar, "add", "wish"),
        marked(Oscar, "price", "rename"),
        marked(Oscar, "advance", "note"),
        marked(Trac, "owner", "comment"),
        marked(MediaWiki, "fact", "undo"),
        marked(MediaWiki, "categorise", "watch"),
        marked(MediaWiki, "protect", "block"),
        marked(Wagtail, "retitle", "image"),
        marked(Wagtail, "fee", "volunteer"),
        marked(Wagtail, "approve", "draft"),
    ],
)
async def test_a_task_is_not_done_where_more_was_changed_than_it_asks_for(
    folder: Path, name: str, template: str, more: str
) -> None:
    task, extra = drawn(name, template)[0], drawn(name, more)[0]
    start = task.start_url.partition(".localhost")[2]
    both = followed(task, [*extra.metadata["plan"][:-1], {"do": "go", "path": start}, *task.metadata["plan"]])
    both.metadata["role"] = task.metadata["role"] or extra.metadata["role"]
    env = installed(name, folder)
    async with env, BrowserPool(CONFIG, MemoryImages(), env.hosts) as pool:
        verdict, _, log = await play(both, env, pool)
        assert not verdict.success and "which was not asked for" in verdict.reason, log
