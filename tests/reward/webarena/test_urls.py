"""Rules for addresses, in both dialects, repaired and as published: a row is a case, with what each of them says."""

import pytest

from tests.reward.webarena.test_text import MODES
from webdojo.errors import TaskError
from webdojo.reward.webarena import urls
from webdojo.reward.webarena.spec import UrlMatch, read_spec

SHOP, ADMIN, FORUM, GIT = "http://shop:7770", "http://shop:7780/admin", "http://forum:9999", "http://git:8023"
TWO = f"{FORUM}/f/machinelearning |OR| {FORUM}/f/deeplearning"

# Reference, address, and the verdicts of the modes, in order. Both dialects with the rule `GOLD in PRED`.
GOLD_IN_PRED = [
    (f"{SHOP}/contact", f"{SHOP}/contact", "1111"),
    (f"{SHOP}/contact", f"{SHOP}/contact/", "1111"),
    (f"{SHOP}/contact/", f"{SHOP}/contact", "1111"),
    (f"{SHOP}/contact//", f"{SHOP}/contact", "1110"),
    (f"{SHOP}/contact", f"{SHOP}/contact/index/", "1111"),
    (f"{SHOP}/contact/index/", f"{SHOP}/contact", "0000"),
    (f"{SHOP}/contact", f"{SHOP}/contacts", "0101"),
    (f"{SHOP}/contact", f"{SHOP}/Contact", "0000"),
    (f"{SHOP}/contact", f"{SHOP}/", "0000"),
    (f"{SHOP}/contact", f"{SHOP}/help/contact", "0000"),
    (f"{SHOP}/contact", "http://shop:7771/contact", "0000"),
    (f"{SHOP}/contact", "http://other/contact", "0000"),
    (f"{SHOP}/contact", "http://evil/shop:7770/contact", "0100"),
    (f"{SHOP}/contact", f"http://evil/?next={SHOP}/contact", "0001"),
    (f"{SHOP}/contact", f"{SHOP}/contact?utm=1", "1111"),
    (f"{SHOP}/contact", f"{SHOP}/contact#form", "1111"),
    (f"{SHOP}/contact", f"{SHOP}//contact", "1010"),
    (f"{SHOP}//contact", f"{SHOP}/contact", "1010"),
    (f"{SHOP}/contact", "https://shop:7770/contact", "1110"),
    (f"{SHOP}/contact", "http://SHOP:7770/contact", "1010"),
    (f"{SHOP}/café/a b", f"{SHOP}/caf%C3%A9/a%20b", "1010"),
    (f"{SHOP}/contact", "", "0000"),
    (f"{SHOP}/contact", "about:blank", "0000"),
    ("http://shop/contact", "http://shop:80/contact", "1010"),
    ("http://localhost:7770/contact", "http://127.0.0.1:7770/contact", "1011"),
    # WebArena PR 77.
    (f"{ADMIN}/reports/report_product/viewed", f"{ADMIN}/reports/report_product/viewedasdf", "0101"),
    (f"{ADMIN}/reports/report_product/viewed/", f"{ADMIN}/reports/report_product/viewed/filter/abc/", "1111"),
    (f"{ADMIN}/reports/report_sales/sales", f"{ADMIN}/reports/report_sales/sales/filter/abc", "1111"),
    (f"{ADMIN}/system_design_theme/edit/id/1", f"{ADMIN}/system_design_theme/edit/id/1/key/9f", "1111"),
    (f"{ADMIN}/system_design_theme/edit/id/1", f"{ADMIN}/system_design_theme/edit/id/15", "0101"),
    (f"{ADMIN}/system_design_theme/edit/id/3/key/", f"{ADMIN}/system_design_theme/edit/id/3/key/9f", "1111"),
    (f"{ADMIN}/customer/index/", f"{ADMIN}/customer/index/edit/id/7", "1111"),
    (f"{SHOP}/sales/order/view/order_id/170/", f"{SHOP}/sales/order/view/order_id/170/", "1111"),
    (f"{SHOP}/sales/order/view/order_id/18", f"{SHOP}/sales/order/view/order_id/180/", "0101"),
    (f"{GIT}/a/b/-/issues/1", f"{GIT}/a/b/-/issues/1517", "0101"),
    (f"{GIT}/a/b/-/issues", f"{GIT}/a/b/-/issues/1517", "1111"),
    (f"{GIT}/a/b/-/issues", f"{GIT}/a/b-fork/-/issues", "0000"),
    (f"{FORUM}/f/books", f"{FORUM}/f/booksuggestions", "0101"),
    (f"{FORUM}/f/books", f"{FORUM}/f/books/59421/post", "1111"),
    # Queries.
    (f"{SHOP}/shoes.html?price=0-30", f"{SHOP}/shoes.html?price=0-30", "1111"),
    (f"{SHOP}/shoes.html?price=0-30", f"{SHOP}/shoes.html", "0000"),
    (f"{SHOP}/shoes.html?price=0-30", f"{SHOP}/shoes.html?price=0-300", "0001"),
    (f"{SHOP}/shoes.html?price=0-30", f"{SHOP}/shoes.html?price=0-30&p=2", "1111"),
    (f"{SHOP}/shoes.html?price=0-30", f"{SHOP}/shoes.html?p=2&price=0-30", "1110"),
    (f"{SHOP}/s/?q=a+b&o=asc", f"{SHOP}/s/?o=asc&q=a%20b", "1110"),
    (f"{SHOP}/s/?q=a+b", f"{SHOP}/s/?q=a+c", "0000"),
    (f"{SHOP}/s/?q=a+b", f"{SHOP}/s?q=a+b", "1010"),
    (f"{GIT}/a/-/issues/?sort=x&state=opened", f"{GIT}/a/-/issues/?sort=x&state=opened&page=2", "1111"),
    (f"{GIT}/a/-/issues/?sort=x&state=opened", f"{GIT}/a/-/issues?sort=x&state=opened", "1010"),
    (f"{GIT}/a/-/issues/?label_name%5B%5D=bug", f"{GIT}/a/-/issues/?label_name[]=bug", "1110"),
    (f"{GIT}/a/-/issues/?label_name%5B%5D=bug", f"{GIT}/a/-/issues/?label_name[]=ui&label_name[]=bug", "1110"),
    (f"{GIT}/a?l=x&l=y", f"{GIT}/a?l=x", "0100"),
    (f"{GIT}/a?l=x&l=y", f"{GIT}/a?l=y&l=x", "1110"),
    ("http://map/search?query=hotels%20near%20X", "http://map/search?query=hotels+near+X#map=5", "1110"),
    # Alternatives.
    (TWO, f"{FORUM}/f/deeplearning", "1111"),
    (TWO, f"{FORUM}/f/machinelearning/1/post", "1111"),
    (TWO, f"{FORUM}/f/machinelearningnews", "0101"),
    (TWO, f"{FORUM}/f/books", "0000"),
    (f"{SHOP}/a?x=1 |OR| {SHOP}/b?x=2", f"{SHOP}/a?x=1", "1111"),
    (f"{SHOP}/a?x=1 |OR| {SHOP}/b?x=2", f"{SHOP}/a?x=2", "0100"),
    (f"{SHOP}/a?x=1 |OR| {SHOP}/b", f"{SHOP}/b", "1011"),
]

# The rule of WebArena-Lite without `url_note`: repaired, and as published.
EXACT = [
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues/719", "11"),
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues/719/", "11"),
    (f"{GIT}/a/-/issues/719/", f"{GIT}/a/-/issues/719", "11"),
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues/719//", "10"),
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues/7190", "00"),
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues/719#note_1", "00"),
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues/719?tab=1", "00"),
    (f"{GIT}/a/-/issues/719", f"{GIT}/a/-/issues", "00"),
    (f"{GIT}/a?x=1", f"{GIT}/a?x=1", "11"),
    (f"{GIT}/a/?x=1", f"{GIT}/a?x=1", "10"),
    (f"{GIT}/a?x=1&y=2", f"{GIT}/a?y=2&x=1", "00"),
    (f"{GIT}/a", "https://git:8023/a", "00"),
    ("http://localhost:8023/a", "http://127.0.0.1:8023/a", "11"),
    (TWO, f"{FORUM}/f/deeplearning", "11"),
    (TWO, f"{FORUM}/f/deeplearning/1", "00"),
]


def match(reference: str, lite: bool, exact: bool = False) -> UrlMatch:
    note = {} if exact else {"url_note": "GOLD in PRED"}
    spec = {"eval_types": ["url_match"], "reference_url": reference, **note}
    (found,) = read_spec(spec, "webarena_lite" if lite else "webarena")
    assert isinstance(found, UrlMatch) and found.exact is exact
    return found


@pytest.mark.parametrize(("reference", "url", "expected"), GOLD_IN_PRED)
def test_gold_in_pred(reference: str, url: str, expected: str) -> None:
    said = (urls.matches(match(reference, rules.lite), url, rules) for rules in MODES.values())
    assert "".join(str(int(each)) for each in said) == expected


@pytest.mark.parametrize(("reference", "url", "expected"), EXACT)
def test_exact(reference: str, url: str, expected: str) -> None:
    lite = [rules for rules in MODES.values() if rules.lite]
    said = (urls.matches(match(reference, True, exact=True), url, rules) for rules in lite)
    assert "".join(str(int(each)) for each in said) == expected


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"reference_url": ""}, "reference_url is empty"),
        ({"reference_url": f"{SHOP} |OR| "}, "reference_url is empty"),
        ({"reference_url": None}, "reference_url must be a str, but is None"),
        ({"reference_url": SHOP, "url_note": "EXACT"}, "url_note is 'EXACT', which is no rule of webarena"),
    ],
)
def test_a_wrong_reference_is_named(spec: dict[str, object], says: str) -> None:
    with pytest.raises(TaskError, match=says.replace("|", r"\|")):
        read_spec({"eval_types": ["url_match"], **spec}, "webarena")
