"""Parses calls in Python syntax, such as `do(action="Click", element="7")`, without evaluating anything.

A value is a quoted text, a bare number (kept as text) or None. Characters that look like quotes count as
quotes. `find` and `read` are linear in the length of their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from webdojo.agent.toolcall import plain

SHOWN = 40
"""The most characters of a name or a value in an error."""
_DOUBLE, _SINGLE = '"“”„‟″＂', "'‘’‚‛′＇`"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}

_NAME = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.]*")
_WORD = re.compile(r"\w+")
_AFTER = re.compile(r"\s*(,\s*)?")
_HEX = re.compile(r"[0-9a-fA-F]+")

Value = str | None


@dataclass(frozen=True)
class PyCall:
    """A parsed call."""

    function: str
    positional: list[Value] = field(default_factory=list)
    named: dict[str, Value] = field(default_factory=dict)

    def bound(self, parameters: Sequence[str]) -> dict[str, str]:
        """The value of each parameter, without None; the message of a ValueError says what does not fit."""
        if len(self.positional) > len(parameters):
            raise ValueError(f"{self.function} takes at most {len(parameters)} values, not {len(self.positional)}")
        values = dict(zip(parameters, self.positional, strict=False))
        for name, value in self.named.items():
            if name not in parameters:
                known = ", ".join(parameters) or "no arguments"
                raise ValueError(f'{self.function} has no argument "{plain(name, SHOWN)}"; it takes {known}')
            if name in values:
                raise ValueError(f"{self.function} got {name} twice")
            values[name] = value
        return {name: value for name, value in values.items() if value is not None}


def find(functions: Iterable[str], text: str, start: int = 0) -> re.Match[str] | None:
    """Find the beginning of the next call of one of these functions, outside lines that begin with `#`."""
    begin = rf"^[ \t]*#[^\n]*|(?<![\w.])({'|'.join(functions)})\s*\(\s*"
    found = re.compile(begin, re.MULTILINE).finditer(text, start)
    return next((match for match in found if match[1]), None)


def read(text: str, begin: re.Match[str]) -> tuple[PyCall, int]:
    """Parse the call whose beginning `find` returned, and return it with its end, or raise ValueError."""
    call = PyCall(begin[1])
    position = begin.end()
    while not text.startswith(")", position):
        name = _NAME.match(text, position)
        if name is not None:
            position = name.end()
        value, position = _value(text, position)
        if name is None and call.named:
            raise ValueError("a value without a name stands after one with a name")
        if name is None:
            call.positional.append(value)
        elif name[1] in call.named:
            raise ValueError(f"{call.function} got {plain(name[1], SHOWN)} twice")
        else:
            call.named[name[1]] = value
        after = _AFTER.match(text, position)
        assert after is not None, "it matches nothing at least"
        position = after.end()
        if not after[1] and not text.startswith(")", position):
            raise ValueError(f"expected a comma or a closing bracket {_near(text, position)}")
    return call, position + 1


def write(function: str, arguments: Mapping[str, str], reserved: re.Pattern[str]) -> str:
    """Write a call that `read` reads back; `reserved` matches single characters that are written as escapes."""
    said = (f"{name}={_quoted(value, reserved)}" for name, value in arguments.items())
    return f"{function}({', '.join(said)})"


def _value(text: str, position: int) -> tuple[Value, int]:
    opening = text[position : position + 1]
    if opening and opening in _DOUBLE + _SINGLE:
        # A plain quote is closed by the same one, any other by all that look like it.
        alike = opening if opening in "\"'" else _DOUBLE if opening in _DOUBLE else _SINGLE
        return _string(text, position + 1, alike)
    number = _NUMBER.match(text, position)
    if number is not None:
        return number[0], number.end()
    word = _WORD.match(text, position)
    if word is not None and word[0] in ("None", "null"):
        return None, word.end()
    if word is not None:
        raise ValueError(f"{plain(word[0], SHOWN)} must stand in quotes")
    raise ValueError(f"expected a value {_near(text, position)}")


def _string(text: str, position: int, closing: str) -> tuple[str, int]:
    """The text up to its closing quote, and the position after it."""
    unescaped = re.compile(rf"[^\\{closing}]*")
    parts: list[str] = []
    while True:
        run = unescaped.match(text, position)
        assert run is not None, "it matches nothing at least"
        parts.append(run[0])
        position = run.end()
        if position >= len(text):
            raise ValueError("a text has no closing quote")
        if text[position] != "\\":
            break
        part, position = _escape(text, position + 1)
        parts.append(part)
    try:  # two escapes can be the halves of a character
        whole = "".join(parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise ValueError("a text holds half a character") from None
    return whole, position + 1


def _escape(text: str, position: int) -> tuple[str, int]:
    """The meaning of an escape, and the position after it; an unknown escape stands for itself, as in Python."""
    kind = text[position : position + 1]
    digits = _HEX_DIGITS.get(kind, 0)
    if digits:
        code = text[position + 1 : position + 1 + digits]
        if len(code) < digits or _HEX.fullmatch(code) is None or int(code, 16) > 0x10FFFF:
            raise ValueError(f"a bad escape {_near(text, position - 1)}")
        return chr(int(code, 16)), position + 1 + digits
    if kind in _ESCAPES:
        return _ESCAPES[kind], position + 1
    if kind == "\\" or (kind and kind in _DOUBLE + _SINGLE):
        return kind, position + 1
    return f"\\{kind}", position + 1


def _quoted(value: str, reserved: re.Pattern[str]) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return '"' + reserved.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'


def _near(text: str, position: int) -> str:
    if position >= len(text):
        return "at the end"
    return f'near "{plain(text[max(position - 10, 0) : position + 20], SHOWN)}"'
