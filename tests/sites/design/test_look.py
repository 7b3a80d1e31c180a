from webdojo.sites.design.look import MIN_CONTRAST, contrast, make_look


def test_every_text_of_two_hundred_sites_stands_out() -> None:
    for seed in range(100):
        for kind in ("shop", "wiki"):
            p = make_look(kind, seed).palette
            pairs = [
                (p.page, p.page_ink),
                (p.alt, p.page_ink),
                (p.page, p.link),
                (p.alt, p.link),
                (p.header, p.header_ink),
                (p.button, p.button_ink),
                (p.title, p.title_ink),
                (p.field, p.field_ink),
            ]
            for back, ink in pairs:
                assert contrast(back, ink) >= MIN_CONTRAST, (kind, seed, back, ink)


def test_twenty_seeds_look_like_twenty_sites() -> None:
    looks = [make_look("shop", seed) for seed in range(20)]
    assert len({look.palette for look in looks}) == 20
    assert len({(look.brand, look.full.family) for look in looks}) >= 18
    assert len({look.full.family for look in looks}) >= 6
    assert {look.words["cart"] for look in looks} == {"Cart", "Basket", "Bag"}
