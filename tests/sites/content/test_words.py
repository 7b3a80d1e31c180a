from webdojo.sites import COMPACT_KINDS
from webdojo.sites.content import words
from webdojo.sites.instructions.phrasing import PHRASINGS
from webdojo.tiny.vocabulary import KINDS, Vocabulary


def test_names_fit_a_compact_row_with_a_number_beside_them() -> None:
    known = Vocabulary(KINDS)
    assert max(map(len, known.names)) <= 13
    assert len(set(words.ADJECTIVES)) == 40
    assert len(set(known.nouns)) == len(known.nouns) == 160


def test_vocabularies_stay_small() -> None:
    assert len(Vocabulary(COMPACT_KINDS).words) <= 220
    assert len(Vocabulary(KINDS).words) <= 640
    phrasings = " ".join(way for ways in PHRASINGS.values() for way in ways)
    assert len({word.strip(".,?") for word in phrasings.split() if "{" not in word}) <= 120


def test_every_goal_is_said_in_five_ways() -> None:
    assert all(len(set(ways)) >= 5 for ways in PHRASINGS.values())
