"""The application `notes`, in whose tests no package is installed."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application, Home
from webdojo.envs.apps.goal import Goal, Template, World, added, answered, shown
from webdojo.sites.answers.values import text

COLOURS = ("red", "blue", "green", "white", "black", "amber", "violet", "teal")


def write(world: World, rng: random.Random) -> Goal:
    colour = rng.choice(COLOURS)
    plan = [
        {"do": "write", "field": "text", "text": f"buy {colour} paint"},
        {"do": "click", "text": "Save"},
        {"do": "done", "answer": "Done"},
    ]
    fact = added("The note is there", "note", text=f"buy {colour} paint", owner=world["owner"])
    return Goal(colour, {"text": f"buy {colour} paint"}, [fact], plan)


def read(world: World, rng: random.Random) -> Goal:
    note = rng.choice(world["notes"])
    facts = [shown("It was shown", f"{note['id']}: {note['text']}"), answered("It is right", text(note["text"]))]
    return Goal(str(note["id"]), {"id": str(note["id"])}, facts, [{"do": "done", "answer": note["text"]}])


class Notes(Application):
    name = "notes"
    about = "notes of the tests"
    folder = Path(__file__).parent
    noise = ("hit",)
    templates = {  # noqa: RUF012
        "write": Template("write", write, ("Note “{text}”.", *(f"{way} “{{text}}”." for way in "abcd")), "owner"),  # type: ignore[arg-type]
        "read": Template("read", read, ("What is note {id}?", *(f"{way} note {{id}}?" for way in "abcd"))),  # type: ignore[arg-type]
    }

    def world(self, seed: int) -> dict[str, Any]:
        notes = [{"id": at, "text": f"{colour}{seed}"} for at, colour in enumerate(COLOURS, 1)]
        return {"owner": f"owner{seed}", "notes": notes}


def copy(world: World, rng: random.Random) -> Goal:
    note, owner = rng.choice(world["beside"]["notes"]), world["beside"]["owner"]
    facts = [
        shown("It was shown", f"{note['id']}: {note['text']}"),
        added("The note is there", "note", text="copied", owner=owner),
    ]
    return Goal(str(note["id"]), {"id": str(note["id"])}, facts, [{"do": "done", "answer": "Done"}])


class Ledger(Notes):
    """Another one of the same code, whose task needs the first as well."""

    name = "ledger"
    templates = {  # noqa: RUF012
        "copy": Template(
            "copy", copy, ("Copy {id}.", "Do {id}.", "a {id}", "b {id}", "c {id}"), "owner", "/", "notes", "owner"
        )
    }


class Diary(Notes):
    """The same notes, which their owner alone is asked about."""

    name = "diary"
    templates = {  # noqa: RUF012
        **Notes.templates,
        "read": Template("read", read, ("What is note {id}?", *(f"{way} note {{id}}?" for way in "abcd")), "owner"),  # type: ignore[arg-type]
    }


def installed(cache: Path, application: Application | None = None) -> Home:
    """The application, by default `Notes`, installed without packages: its Python is this one without any."""
    home = Home(application or Notes(), cache)
    (home.environment / "bin").mkdir(parents=True)
    home.python.symlink_to(Path(sys.executable).resolve())
    (home.environment / "installed").touch()
    home.install()
    return home
