"""Words, as NLTK 3.9 makes them of one sentence, and where sentences end by the rules of its splitter."""

import pytest

from webdojo.reward.webarena.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("0", ["0"]),
        ("$0.00", ["$", "0.00"]),
        ("12:30, 3,000 items", ["12:30", ",", "3,000", "items"]),
        ("it is 5/10, ok", ["it", "is", "5/10", ",", "ok"]),
        ("#5 at 50%!", ["#", "5", "at", "50", "%", "!"]),
        ("can't you? cannot!", ["ca", "n't", "you", "?", "can", "not", "!"]),
        ("amy's dogs' toys", ["amy", "'s", "dogs", "'", "toys"]),
        ("'single' \"double\"", ["'", "single", "'", "``", "double", "''"]),
        ("(a) [b] {c} <d>", ["(", "a", ")", "[", "b", "]", "{", "c", "}", "<", "d", ">"]),
        ("x--y 2014–2019", ["x", "--", "y", "2014", "–", "2019"]),
        ("wait... what", ["wait", "...", "what"]),
        ("a@b.org; me", ["a", "@", "b.org", ";", "me"]),
        ("i'm gonna 'tis", ["i", "'m", "gon", "na", "'", "tis"]),
        ("done.", ["done", "."]),
        ("done. then more.", ["done", ".", "then", "more", "."]),
        ("score: 0. method", ["score", ":", "0.", "method"]),
        ("score: 0. Method", ["score", ":", "0", ".", "Method"]),
        ("at 5 p.m. today", ["at", "5", "p.m.", "today"]),
        ("dr. who", ["dr.", "who"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected
