from webdojo.sites.content import words
from webdojo.sites.instructions.phrasing import PHRASINGS


def test_names_fit_a_compact_row_with_a_number_beside_them() -> None:
    longest = max(len(f"{a} {n}") for a in words.ADJECTIVES for n in (*words.SHOP_NOUNS, *words.WIKI_NOUNS))
    assert longest <= 13
    assert len(set(words.ADJECTIVES)) == 40
    assert not set(words.SHOP_NOUNS) & set(words.WIKI_NOUNS)


def test_vocabularies_stay_small() -> None:
    assert len(compact := words.compact_vocabulary()) <= 220, len(compact)
    phrasings = " ".join(way for ways in PHRASINGS.values() for way in ways)
    assert len({word.strip(".,?") for word in phrasings.split() if "{" not in word}) <= 120


def test_every_goal_is_said_in_five_ways() -> None:
    assert all(len(set(ways)) >= 5 for ways in PHRASINGS.values())
