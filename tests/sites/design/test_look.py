import pytest

from webdojo.sites.design.look import MAX_SATURATION, MIN_CONTRAST, Palette, contrast, make_look
from webdojo.sites.kinds import KINDS, load_site

ROUNDING = 3 / 255


def texts(palette: Palette) -> list[tuple[str, str]]:
    """The colours that texts stand on, each with that of the text."""
    p = palette
    return [
        (p.page, p.page_ink),
        (p.alt, p.page_ink),
        (p.page, p.link),
        (p.alt, p.link),
        (p.header, p.header_ink),
        (p.button, p.button_ink),
        (p.title, p.title_ink),
        (p.field, p.field_ink),
    ]


def test_every_text_of_two_hundred_sites_stands_out() -> None:
    for seed in range(100):
        for kind in ("shop", "wiki"):
            for back, ink in texts(make_look(kind, seed).palette):
                assert contrast(back, ink) >= MIN_CONTRAST, (kind, seed, back, ink)


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_colour_of_full_pages_is_garish_and_all_text_is_readable(kind: str) -> None:
    for seed in range(50):
        palette = load_site(kind, seed).look.on("auto").palette
        for color in (value for name, value in vars(palette).items() if name != "dark"):
            low, _, high = sorted(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
            most = MAX_SATURATION * (1 - abs(low + high - 1))  # of what is possible at this lightness
            assert high - low <= most + ROUNDING, (seed, color)
        assert min(contrast(back, ink) for back, ink in texts(palette)) >= 4.5, seed


def test_twenty_seeds_look_like_twenty_sites() -> None:
    looks = [make_look("shop", seed) for seed in range(20)]
    assert len({look.palette for look in looks}) == 20
    assert len({(look.brand, look.full.family) for look in looks}) >= 18
    assert len({look.full.family for look in looks}) >= 6
    assert {look.words["cart"] for look in looks} == {"Cart", "Basket", "Bag"}
