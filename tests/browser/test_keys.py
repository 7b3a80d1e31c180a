"""Models write keys in many ways; the browser takes one."""

import pytest

from webdojo.browser.keys import normalise_keys, read_chord, shown


@pytest.mark.parametrize(
    ("text", "chord"),
    [
        ("Enter", "Enter"),
        ("return", "Enter"),
        ("ctrl+a", "ControlOrMeta+a"),
        ("Cmd+A", "ControlOrMeta+a"),
        ("Control+Shift+T", "ControlOrMeta+Shift+T"),
        ("page_down", "PageDown"),
        ("Arrow-Up", "ArrowUp"),
        ("esc", "Escape"),
        (" ", "Space"),
        ("+", "+"),
        ("ctrl++", "ControlOrMeta++"),
        ("é", "é"),
        ("ctrl+é", None),
        ("f5", "F5"),
        ("shift", "Shift"),
        ("hello", None),
        ("a+b", None),
        ("", None),
        ("ctrl+", None),
    ],
)
def test_one_chord(text: str, chord: str | None) -> None:
    assert read_chord(text) == chord


def test_modifiers_before_one_key_are_a_combination() -> None:
    assert normalise_keys(["Control", "a"]) == ["ControlOrMeta+a"]
    assert normalise_keys(["ctrl", "shift", "Tab"]) == ["ControlOrMeta+Shift+Tab"]
    assert normalise_keys(["ctrl", "A"]) == ["ControlOrMeta+a"]
    assert normalise_keys(["ctrl", "+"]) == ["ControlOrMeta++"]
    assert normalise_keys(["ctrl", " "]) == ["ControlOrMeta+Space"]
    assert normalise_keys(["shift", "  a"]) == ["Shift+a"]


def test_other_lists_are_pressed_one_after_another() -> None:
    assert normalise_keys(["Tab", "Enter"]) == ["Tab", "Enter"]
    assert normalise_keys(["ctrl+a", "Backspace"]) == ["ControlOrMeta+a", "Backspace"]


def test_feedback_shows_plain_names() -> None:
    assert shown("ControlOrMeta+a") == "Control+a"
