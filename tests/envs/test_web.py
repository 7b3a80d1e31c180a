"""Sites that are there already: a file of tasks, and nothing that is served."""

import pytest

from tests.rollout.records import task
from webdojo.envs.web import Web
from webdojo.errors import TaskError


async def test_it_serves_nothing_and_has_no_verdict_and_no_tasks_of_its_own() -> None:
    async with Web() as env:
        visit = await env.visit(task("a"), "seed")
        assert (visit.task, visit.start_url, visit.headers) == (task("a"), "http://site.localhost/", {})
        assert (env.hosts, env.reward, env.oracle) == ({}, None, None)
        assert (await env.state(visit), await env.is_over(visit)) == ({}, False)
        await env.leave(visit)
    with pytest.raises(TaskError, match=r"tasks\.path=my-tasks\.jsonl"):
        env.tasks("train", 1, 0)
