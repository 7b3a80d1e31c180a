"""Key names as models write them, converted to the names that Playwright takes.

"ctrl+a", "Cmd+A", ["Control", "a"], "return", "page_down" and "ArrowDown" are all understood. Both Ctrl and Cmd mean
the shortcut key of the machine, so the same chord works everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHORTCUT = "ControlOrMeta"

_MODIFIERS = {
    **dict.fromkeys(("ctrl", "control", "cmd", "command", "meta", "super", "win", "controlormeta"), _SHORTCUT),
    **dict.fromkeys(("alt", "option", "opt"), "Alt"),
    "shift": "Shift",
}

_ALIASES = {
    "return": "Enter",
    "kpenter": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "pgdown": "PageDown",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "spacebar": "Space",
    "plus": "+",
    "minus": "-",
    **{
        name.lower(): name
        for name in (
            *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"),
            *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Space", "CapsLock", "ContextMenu"),
            *(f"F{number}" for number in range(1, 13)),
        )
    },
}


def read_chord(text: str) -> str | None:
    """Return a key or combination as Playwright writes it (`ControlOrMeta+a`), or None if a key is unknown."""
    if text == " ":
        return "Space"
    text = text.strip()
    # "+" and "ctrl++" press the plus key.
    *modifiers, last = [_read_key(part) or "" for part in re.split(r"(?<=.)\+(?=.)", text, flags=re.DOTALL)]
    if not last or any(key not in _MODIFIERS.values() for key in modifiers):
        return None
    if modifiers and not last.isascii():  # no keyboard that is simulated has such a key
        return None
    if _SHORTCUT in modifiers and "Shift" not in modifiers and len(last) == 1:
        small = last.lower()
        last = small if len(small) == 1 else last  # a few letters have no single small form
    return "+".join([*modifiers, last])


def combine(keys: Sequence[str]) -> list[str]:
    """Join modifiers and the one key after them: `["ctrl", "a"]` becomes `["ControlOrMeta+a"]`."""
    lowered = [key.strip().lower() for key in keys]
    if len(keys) > 1 and all(key in _MODIFIERS for key in lowered[:-1]) and lowered[-1] not in _MODIFIERS:
        last = read_chord(keys[-1])  # read before it is joined: a blank is a key only where it stands alone
        if last is not None:
            return ["+".join([*(_MODIFIERS[key] for key in lowered[:-1]), last])]
    return list(keys)


def normalise_keys(keys: Sequence[str]) -> list[str]:
    """Return all chords to press in order, of keys that `tools.check_call` accepts."""
    return [chord for key in combine(keys) if (chord := read_chord(key)) is not None]


def shown(chord: str) -> str:
    """Return the chord as feedback shows it: `Control+a`."""
    return chord.replace(_SHORTCUT, "Control")


def _read_key(text: str) -> str | None:
    if len(text) == 1:
        return text
    plain = text.strip().lower()
    return _MODIFIERS.get(plain) or _ALIASES.get(plain.replace("_", "").replace("-", "").replace(" ", ""))
