"""`webdojo record`: a scripted person in a real browser demonstrates, and the data set is like any other."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest

from tests.browser.conftest import Handler, served
from tests.browser.person.driving import ScriptedPerson
from webdojo.agent.harnesses import HARNESSES
from webdojo.browser.actions import point_px
from webdojo.browser.person.composer import Pauses
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.cli.keys import recipe_for
from webdojo.cli.record import DEFAULTS, FIXED
from webdojo.errors import ConfigError, HarnessError, Stopped
from webdojo.loops.collection.curate import curate, curation_recipe
from webdojo.loops.collection.dataset import open_dataset, read_manifest
from webdojo.loops.collection.imitated import imitated
from webdojo.loops.collection.person import Desk, commanded
from webdojo.loops.request import task_at
from webdojo.loops.start import collect, train
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Task, ToolCall, Trajectory

Deeds = Callable[["Seat"], Awaitable[None]]


class Seat(Desk):
    """A desk at which somebody sits who does some tasks, one after another, each in the next window that opens."""

    pauses = Pauses(click=0.2, wheel=0.4, keys=0.4, text=3)

    def __init__(self, *deeds: Deeds) -> None:
        super().__init__()
        self.said: list[str] = []
        self.session: BrowserSession
        self.person: ScriptedPerson
        self._deeds = list(deeds)
        self._doing: list[asyncio.Task[None]] = []
        self._acted = asyncio.Event()

    def start(self) -> None:
        pass

    def say(self, text: str) -> None:
        self.said.append(text)
        if text.startswith("\n"):  # a task, whose window is there
            self._doing.append(asyncio.ensure_future(self._do(self._deeds.pop(0))))

    async def _do(self, deeds: Deeds) -> None:
        try:
            await deeds(self)
        except BaseException:
            self.put(None)
            raise

    async def sit_at(self, session: BrowserSession) -> None:
        self.session, self.person = session, await ScriptedPerson.at(session.page)
        act = session.act

        async def noted(calls: Sequence[ToolCall]):
            result = await act(calls)
            self._acted.set()
            return result

        session.act = noted  # type: ignore[method-assign]

    async def until_done(self, *deeds: Awaitable[None]) -> None:
        """Do these, and wait until a call of theirs was carried out."""
        self._acted.clear()
        for deed in deeds:
            await deed
        await self._acted.wait()

    def check(self) -> None:
        """Raise what went wrong while somebody sat here."""
        for each in self._doing:
            if each.done() and not each.cancelled():
                each.result()


@pytest.fixture
def seated(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Seat]:
    """Puts somebody at a desk, who uses the windows that open from now on."""

    def seated(*deeds: Deeds) -> Seat:
        seat, open_one = Seat(*deeds), BrowserPool.open

        async def opened(self: BrowserPool, *given, **more) -> BrowserSession:
            session = await open_one(self, *given, **more)
            await seat.sit_at(session)
            return session

        monkeypatch.setattr(BrowserPool, "open", opened)
        return seat

    return seated


def recipe_of(*overrides: str) -> Recipe:
    return recipe_for("record", "quickstart", ["browser.headless=true", *overrides], FIXED, defaults=DEFAULTS)


def by_oracle(recipe: Recipe, task: Task) -> Deeds:
    """Does a task with mouse and keys, as the oracle of the embedded web would with calls."""

    async def do(seat: Seat) -> None:
        person, viewport_px = seat.person, recipe.browser.viewport_px
        assert recipe.env.oracle is not None
        oracle = recipe.env.oracle(task, None, 0.0, "")
        while True:
            step = await oracle.step(seat.session)
            for call in step.calls:
                given = call.arguments
                if call.name == "done":
                    seat.put(f"> {step.think}")
                    seat.put(given["answer"])
                    return
                if call.name == "click":
                    await seat.until_done(person.click(*point_px(given["x"], given["y"], viewport_px)))
                elif call.name == "write":
                    await seat.until_done(person.type(given["text"]))
                elif call.name == "press_keys":
                    for key in given["keys"]:
                        await seat.until_done(person.key(key))
                elif call.name == "scroll":
                    sign = {"down": 1, "up": -1}[given["direction"]]
                    await seat.until_done(person.wheel(5, 5, dy=sign * given["amount"] * viewport_px[1]))
                elif call.name == "go_back":
                    await seat.until_done(person.key("ArrowLeft", ["Alt"]))
                else:
                    raise AssertionError(f"nobody has shown this person how to {call}")

    return do


def read(folder: Path) -> list[Trajectory]:
    with open_dataset(folder) as dataset:
        trajectories = list(dataset.trajectories())
        for trajectory in trajectories:
            assert dataset.store.has_screenshots(trajectory)
    return trajectories


def calls_of(trajectory: Trajectory) -> list[tuple[str, object]]:
    """The calls of all turns, clicks by their pixels."""
    calls: list[tuple[str, object]] = []
    for call in (call for turn in trajectory.turns for call in turn.parsed.calls):
        given = call.arguments
        clicks = call.name == "click"
        calls.append((call.name, point_px(given["x"], given["y"], (320, 320)) if clicks else given))
    return calls


def tasks_of(recipe: Recipe) -> list[Task]:
    """One of each of these goals."""
    drawn = {task.metadata["goal"]: task for task in recipe.draw("train", 40)}
    return [drawn[goal] for goal in ("cart", "price", "open_result")]


@pytest.fixture(scope="module")
def by_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oracle's own episodes."""
    folder = tmp_path_factory.mktemp("script") / "set"
    recipe = load_recipe("quickstart")
    collect(recipe, folder, resume=False, tasks=tasks_of(recipe))
    return folder


def test_what_a_person_does_becomes_the_data_set_that_a_teacher_makes(seated, by_script: Path, tmp_path: Path) -> None:
    folder, recipe = tmp_path / "set", recipe_of()
    tasks = tasks_of(recipe)
    seat = seated(*(by_oracle(recipe, task) for task in tasks))
    manifest = collect(recipe, folder, resume=False, tasks=tasks, desk=seat)
    seat.check()
    assert manifest.complete and manifest.counts.successes == len(tasks) and not manifest.unfinished
    (source,) = manifest.lineage
    assert source["teacher"] == {"name": "person"} and source["judge"]["name"] == "rules"
    (theirs,) = read_manifest(by_script).lineage
    assert source["tasks"] == theirs["tasks"], "the same tasks have another hash"
    recorded, expected = read(folder), read(by_script)
    assert [calls_of(each) for each in recorded] == [calls_of(each) for each in expected]
    harness = recipe.build_harness(Processor.load(model_folder("tiny")))
    for trajectory in recorded:
        *turns, last = trajectory.turns
        for turn in (*turns, last):
            assert harness.parse(harness.codec.decode(turn.response.ids)) == turn.parsed
            assert turn.parsed.error is None and turn.feedback[0].ok
        assert {turn.parsed.think for turn in turns} == {""} and last.parsed.think
        assert trajectory.final is not None and trajectory.final.screenshot != turns[0].observation.screenshot
    assert sum("success" in each for each in seat.said) == len(tasks)
    report = curate([folder], curation_recipe([folder], ["curate.drop_steps=[format_error]"]), tmp_path / "curated")
    assert report.after.trajectories == len(tasks)
    for name in (folder, tmp_path / "curated"):
        assert len(imitated(load_recipe("quickstart", [f"sft.data={name}"]))) == len(tasks)


def types(*lines: str) -> Deeds:
    async def do(seat: Seat) -> None:
        for line in lines:
            seat.put(line)

    return do


async def clicks_and_drops(seat: Seat) -> None:
    await seat.until_done(seat.person.click(2, 2))
    seat.put(":drop")


async def closes_the_window(seat: Seat) -> None:
    await seat.session.page.close()


def test_an_attempt_is_begun_anew_and_what_was_stopped_goes_on(seated, tmp_path: Path) -> None:
    folder, recipe = tmp_path / "set", recipe_of()
    tasks = tasks_of(recipe)[:2]
    seat = seated(clicks_and_drops, closes_the_window, by_oracle(recipe, tasks[0]), types(":stop"))
    with pytest.raises(Stopped, match="the person has stopped"):
        collect(recipe, folder, resume=False, tasks=tasks, desk=seat)
    seat.check()
    part = read_manifest(folder)
    assert not part.complete and part.unfinished == {tasks[1].id: "not begun"}
    assert [each.task.id for each in read(folder)] == [tasks[0].id]
    again = seated(by_oracle(recipe, tasks[1]))
    manifest = collect(recipe, folder, resume=True, tasks=tasks, desk=again)
    again.check()
    assert manifest.complete and manifest.counts.trajectories == manifest.counts.successes == 2
    assert [each for each in again.said if each.startswith("\n")] == [
        f"\n{tasks[1].instruction} ({tasks[1].start_url})"
    ], "what is recorded was asked for again"
    with RunStore.open(folder, readonly=True) as store:
        assert len(store.rows()) == 2, "an attempt that was dropped was kept"


FORM = """<!doctype html><title>form</title><body style='margin:0'><form action=/sent>
<input name=q style='display:block;width:200px;height:50px'><button style='height:50px'>Send</button></form>
<input type=password style='position:absolute;top:150px;left:0;width:100px;height:40px'>
<div id=out></div><script>addEventListener('click', () => { out.textContent += '!'; })</script>"""


class Form(Handler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        Form.asked.append(self.path)
        self.answer(200, FORM)


@pytest.fixture(scope="module")
def form() -> Iterator[str]:
    with served(Form) as origin:
        yield origin


OWN = ["browser.guard.private_hosts=[127.0.0.1]", "reward=completed"]


async def fills_the_form(seat: Seat) -> None:
    person = seat.person
    await seat.until_done(person.click(100, 25))
    seat.put("> The field takes the name.")
    await seat.until_done(person.type("Ada Lovelace"))
    await seat.until_done(person.key("Enter"))
    seat.put(":wait 0")
    seat.put("")


def test_a_task_of_ones_own_on_ones_own_page(seated, form: str, tmp_path: Path) -> None:
    folder, recipe = tmp_path / "set", recipe_of(*OWN)
    first, second = (task_at(recipe.env, what, f"{form}/form") for what in ("Sign up Ada", "Just look"))
    Form.asked.clear()
    seat = seated(fills_the_form)
    assert collect(recipe, folder, resume=False, tasks=[first], desk=seat).counts.successes == 1
    seat.check()
    (trajectory,) = read(folder)
    assert calls_of(trajectory) == [
        ("click", (100, 25)),
        ("write", {"text": "Ada Lovelace"}),
        ("press_keys", {"keys": ["Enter"]}),
        ("wait", {"seconds": 0}),
        ("done", {"answer": ""}),
    ]
    assert [turn.parsed.think for turn in trajectory.turns] == ["", "The field takes the name.", "", "", ""]
    assert [each for each in Form.asked if "favicon" not in each] == ["/form", "/sent?q=Ada+Lovelace"]
    manifest = collect(recipe, folder, resume=True, tasks=[second], desk=seated(types("a form")))
    assert manifest.counts.trajectories == manifest.counts.successes == 2
    assert [(each.task.instruction, each.answer) for each in read(folder)] == [
        ("Sign up Ada", ""),
        ("Just look", "a form"),
    ]
    (source,) = manifest.lineage
    assert source["judge"]["name"] == "completed" and source["tasks"]["n"] == 2


async def logs_in(seat: Seat) -> None:
    await seat.until_done(seat.person.click(50, 170))
    await seat.until_done(seat.person.type("hunter22"))
    seat.put("")


def test_a_password_is_shown_to_nobody(seated, form: str, tmp_path: Path) -> None:
    recipe, seat = recipe_of(*OWN), seated(logs_in)
    collect(recipe, tmp_path / "set", resume=False, tasks=[task_at(recipe.env, "Log in", f"{form}/form")], desk=seat)
    seat.check()
    (trajectory,) = read(tmp_path / "set")
    assert ("write", {"text": "hunter22"}) in calls_of(trajectory) and trajectory.secrets == ["hunter22"]
    assert '  2  write("***")' in seat.said and "hunter22" not in str(seat.said)


async def drags_and_types(seat: Seat) -> None:
    person = seat.person
    await person.press(10, 200)
    await person.move(150, 250)
    await person.release(150, 250)
    await seat.until_done(person.click(100, 25))
    await seat.until_done(person.type("Ada"))
    await seat.until_done(person.key("Enter"))
    seat.put("so many words " * 200)
    seat.put("few words")


def test_an_agent_that_clicks_and_types_at_once_is_shown_so_and_what_it_cannot_say_is_told(
    seated, form: str, tmp_path: Path
) -> None:
    recipe = recipe_of(*OWN, "harness={name: openwebvoyager, fill: true}", "rollout.max_context_tokens=8192")
    seat = seated(drags_and_types)
    task = task_at(recipe.env, "Sign up Ada", f"{form}/form")
    assert collect(recipe, tmp_path / "set", resume=False, tasks=[task], desk=seat).counts.successes == 1
    seat.check()
    (trajectory,) = read(tmp_path / "set")
    names = [[call.name for call in turn.parsed.calls] for turn in trajectory.turns]
    assert names == [["click"], ["click", "write"], ["click", "write", "press_keys"], ["done"]]
    assert all(entry.ok for turn in trajectory.turns for entry in turn.feedback)
    assert any("drag" in each and "is nothing that the harness 'openwebvoyager' can say" in each for each in seat.said)
    assert any("rollout.sampling.max_tokens is 96" in each for each in seat.said)
    assert Form.asked[-1] == "/sent?q=Ada" or "/sent?q=Ada" in Form.asked


@pytest.mark.parametrize("name", HARNESSES.built_in)
def test_what_a_person_does_without_a_word_is_read_back(name: str) -> None:
    codec = Processor.load(model_folder("tiny"))
    harness = HARNESSES.built_in[name]().build(codec)
    read = []
    for call in CALLS:
        with suppress(HarnessError):
            text, _ = harness.render("", [call], lambda x, y: 7)
            parsed = harness.parse(harness.codec.decode(codec.encode(text)))
            assert parsed.error is None and parsed.think == ""
            read += parsed.calls
    if name == "openwebrl":
        assert read == CALLS
    assert {"click", "go_back", "done"} <= {call.name for call in read}


CALLS = [
    ToolCall(name=name, arguments=arguments)
    for name, arguments in (
        ("click", {"x": 10, "y": 1000}),
        ("click", {"x": 10, "y": 1000, "button": "right"}),
        ("click", {"x": 10, "y": 1000, "click_type": "double"}),
        ("hover", {"x": 0, "y": 0}),
        ("drag", {"x1": 0, "y1": 1, "x2": 2, "y2": 3}),
        ("write", {"text": 'two\nlines </tool_call> "é" 你'}),
        ("press_keys", {"keys": ["ctrl+a", "Backspace", "+"]}),
        ("scroll", {"direction": "up", "amount": 0.37}),
        ("scroll", {"direction": "down", "amount": 10.0, "x": 5, "y": 6}),
        ("goto_url", {"url": "https://example.org/?q=a b"}),
        ("go_back", {}),
        ("new_tab", {}),
        ("switch_tab", {"index": 1}),
        ("wait", {"seconds": 2.0}),
        ("done", {"answer": ""}),
        ("done", {"answer": "42"}),
    )
]


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("wait 2", ToolCall(name="wait", arguments={"seconds": 2.0})),
        ("goto_url  http://a.test/b c ", ToolCall(name="goto_url", arguments={"url": "http://a.test/b c"})),
        ("switch_tab 1", ToolCall(name="switch_tab", arguments={"index": 1})),
        ("close_tab", ToolCall(name="close_tab")),
        ("press_keys ctrl+a Delete", ToolCall(name="press_keys", arguments={"keys": ["ctrl+a", "Delete"]})),
        ("done :-)", ToolCall(name="done", arguments={"answer": ":-)"})),
    ],
)
def test_a_command_at_the_desk_is_a_call(command: str, call: ToolCall) -> None:
    assert commanded(command) == call


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", ": is nothing that can be typed here; :help says what can"),
        ("click 3 4", ":click is nothing"),
        ("wait long", ":wait long: wait: seconds must be a number"),
        ("switch_tab", "index must be an integer"),
        ("goto_url", "url must not be empty"),
        ("press_keys Entr", "unknown key 'Entr'"),
    ],
)
def test_a_command_that_is_none_is_told(command: str, problem: str) -> None:
    with pytest.raises(HarnessError, match=re.escape(problem)):
        commanded(command)


def test_a_person_needs_a_desk_and_a_window_of_this_machine(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="by `webdojo record`"):
        collect(recipe_of(), tmp_path / "set", resume=False)
    recipe = recipe_of()
    recipe.browser.servers = ["http://127.0.0.1:1"]
    with pytest.raises(ConfigError, match=r"leave browser\.servers out"):
        collect(recipe, tmp_path / "set", resume=False, desk=Seat())
    with pytest.raises(ConfigError, match="noise"):
        load_recipe("quickstart", ["collect.teacher=person", "collect.noise=0.1"])
    assert not (tmp_path / "set").exists()


@pytest.mark.slow
def test_a_model_learns_from_a_person(seated, tmp_path: Path) -> None:
    recipe = recipe_of()
    (task, *_) = tasks_of(recipe)
    collect(recipe, tmp_path / "set", resume=False, tasks=[task], desk=seated(by_oracle(recipe, task)))
    brief = ["train.iterations=0", "evaluate.tasks=1", "evaluate.max_steps=1", "evaluate.sampling.max_tokens=4"]
    train(load_recipe("quickstart", [*brief, "sft.epochs=1", f"sft.data={tmp_path / 'set'}"]), tmp_path / "run", False)
    assert (tmp_path / "run/checkpoints/sft/model.safetensors").is_file()
