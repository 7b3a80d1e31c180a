"""Why episodes failed, counted by kind, and how an episode is named."""

from __future__ import annotations

from typing import Any

from webdojo.loops.failures import failures_by_reason, short_names, shortened, tracebacks


def failed(reason: str, termination: str = "completed", name: str = "a") -> dict[str, Any]:
    return {"success": False, "termination": termination, "reason": reason, "name": name}


def test_reasons_that_differ_in_details_alone_are_one() -> None:
    found = failures_by_reason(
        [
            failed("answered 'the Amber Kettle, 12.50'"),
            failed("answered '9'", name="b"),
            failed("ended on http://shop-3.localhost/c/lamps?page=2"),
            failed("not so: The list of Lamps is shown (ended on http://shop-4.localhost/, not on /c/lamps)"),
            failed("never saw kettle.price, lamp.price", name="c"),
            failed("never saw kettle.price", name="d"),
            failed("unfinished: max_steps", "max_steps"),
            failed("browser_died: in shop-7", "env_error"),
            {"success": True, "termination": "completed", "reason": "", "name": "e"},
        ]
    )
    assert [(each["reason"], each["episodes"]) for each in found] == [
        ("answered …", 2),
        ("never saw …", 2),
        ("ended on …", 1),
        ("ended on …, not on …", 1),
        ("max steps", 1),
        ("env error", 1),
    ]
    assert found[0]["example"] == "b"


def test_an_episode_is_named_by_as_much_of_its_id_as_is_unique() -> None:
    ids = ["shop-1.localhost:open-0a1b-0", "shop-2.localhost:open-0a1b-0", "wiki-1-77ff-0", "alone"]
    assert short_names(ids) == {
        ids[0]: "1.localhost:open-0a1b-0",
        ids[1]: "2.localhost:open-0a1b-0",
        ids[2]: "77ff-0",
        ids[3]: "alone",
    }


def traced(*names: str, error: str) -> str:
    calls = "".join(f'  File "/app/{name}.py", line 1, in {name}\n    {name}()\n' for name in names)
    return f"Traceback (most recent call last):\n{calls}{error}\n"


def test_a_long_traceback_is_cut_in_its_middle_and_a_chain_to_its_last() -> None:
    chain = traced("x", error="KeyError: 1") + "\nDuring handling ...\n\n" + traced(*"abcdef", error="ValueError: no")
    names = [line.split()[-1] for line in shortened(chain).splitlines() if "File" in line]
    assert names == ["a", "b", "e", "f"]
    assert shortened(chain).endswith("    f()\nValueError: no")


def test_tracebacks_through_the_same_lines_are_one() -> None:
    episodes = [
        {"name": name, "traceback": traceback}
        for name, traceback in (
            ("a", traced("f", error="KeyError: 1")),
            ("b", ""),
            ("c", traced("g", error="KeyError: 1")),
            ("d", traced("f", error="KeyError: 2")),
        )
    ]
    found = tracebacks(episodes)
    assert [(each["episodes"], each["example"]) for each in found] == [(2, "d"), (1, "c")]
