"""What `mutations.py` changes stands in the package, so that `test_mutations.py`, which is slow, is not outdated."""

from __future__ import annotations

import pytest

from tests.reward.mutations import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.breaks)
def test_what_a_mutation_changes_stands_there_once(mutation: Mutation) -> None:
    assert (ROOT / "src/webdojo/reward" / mutation.file).read_text().count(mutation.right) == 1
