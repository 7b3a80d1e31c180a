"""What counts as a secret, and the forms in which it is found."""

from __future__ import annotations

import json

import pytest

from webdojo.redact import redact, stored_secrets
from webdojo.types import Feedback, ToolCall


def test_secrets_of_a_storage_state() -> None:
    state = {
        "cookies": [{"name": "id", "value": "0123456789"}, {"name": "theme", "value": "dark"}],
        "origins": [{"localStorage": [{"name": "user", "value": json.dumps({"tokens": ["abcdefgh"], "n": 1})}]}],
    }
    assert stored_secrets(state) == {"0123456789", "abcdefgh", '{"tokens": ["abcdefgh"], "n": 1}'}
    assert stored_secrets(None) == stored_secrets({"cookies": []}) == set()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('a/b+"ü"', "***"),
        ('{"text": "a/b+\\"ü\\""}', '{"text": "***"}'),
        ('{"text": "a/b+\\"\\u00fc\\""}', '{"text": "***"}'),
        ("/?p=a%2Fb%2B%22%C3%BC%22&q=1", "/?p=***&q=1"),
        ("/?p=a/b%2B%22%C3%BC%22", "/?p=***"),
        ("it is YS9iKyLDvCI=", "it is ***="),
    ],
)
def test_a_secret_is_found_in_every_form(text: str, masked: str) -> None:
    assert redact({"said": [text]}, ['a/b+"ü"']) == {"said": [masked]}


def test_records_keep_their_types_and_their_other_values() -> None:
    call = ToolCall(name="write", arguments={"text": "hunter22", "clear": True})
    assert redact(call, ["hunter22"]) == ToolCall(name="write", arguments={"text": "***", "clear": True})
    assert redact(call, []) is call
    assert redact([Feedback(ok=True, text="hunter22")], {"hunter22"}) == [Feedback(ok=True, text="***")]
