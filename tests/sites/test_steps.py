"""Forms that go over several pages: drafts, errors at their step, and what counts in the end."""

from urllib.parse import urlencode
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest

from webdojo.sites.design.render import render
from webdojo.sites.forms import ACTIONS, Forms
from webdojo.sites.serving.server import SESSION_HEADER, SiteServer
from webdojo.sites.site import Overlay, Page, Redirect, Request

APPLY = ACTIONS[0]

FIRST = {"applicant": "Ada Brook", "born": "1984-06-03", "postcode": "10437", "phone": ""}
SECOND = {"start": "2027-03-09", "delivery": "By post", "note": "Please knock."}


@pytest.fixture
def site() -> Forms:
    return Forms(4)


def start(site: Forms) -> str:
    """Where one applies for a service."""
    fitting = (each for each in site.main.entities if APPLY.offered(each) and not APPLY.refuses(each))
    return APPLY.path(next(fitting))


def send(site: Forms, path: str, values: dict[str, str], overlay: Overlay) -> Page | Redirect:
    return site.respond(Request("POST", path, values), overlay)


def show(site: Forms, path: str, overlay: Overlay) -> str:
    page = site.respond(Request("GET", path, {}), overlay)
    assert isinstance(page, Page)
    return render(site, page, overlay, "auto")


def test_an_application_counts_when_its_last_page_is_sent(site: Forms) -> None:
    overlay, path = Overlay(), start(site)
    assert send(site, path, FIRST, overlay) == Redirect(f"{path}/2")
    assert send(site, f"{path}/2", SECOND, overlay) == Redirect(f"{path}/3")
    assert overlay.state == {}
    review = show(site, f"{path}/3", overlay)
    assert "3 June 1984" in review
    assert "Please knock." in review
    assert "Telephone" not in review
    assert send(site, f"{path}/3", {"true": "yes"}, overlay) == Redirect(f"{path}/done")
    made = {key.rpartition("/")[2]: value for key, value in overlay.state.items()}
    assert made == {key: value for key, value in {**FIRST, **SECOND}.items() if value} | {"about": path.split("/")[2]}
    assert overlay.drafts == {}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"postcode": "1043"}, "Postcode must be 5 digits."),
        ({"born": "3 June"}, "Date of birth must be a date like 2027-03-05."),
        ({"applicant": ""}, "Name of the applicant is missing."),
        ({"phone": "call me"}, "Telephone must be 6 to 12 digits."),
    ],
)
def test_a_mistake_is_said_on_its_page(site: Forms, wrong: dict[str, str], error: str) -> None:
    overlay, path = Overlay(), start(site)
    page = send(site, path, {**FIRST, **wrong}, overlay)
    assert isinstance(page, Page)
    assert page.status == 422
    assert error in render(site, page, overlay, "compact")
    assert overlay.drafts == {}


def test_a_later_page_opens_when_those_before_it_are_filled_in(site: Forms) -> None:
    overlay, path = Overlay(), start(site)
    ahead = site.respond(Request("GET", f"{path}/3", {}), overlay)
    assert ahead == Redirect(path)
    send(site, path, FIRST, overlay)
    assert site.respond(Request("GET", f"{path}/3", {}), overlay) == Redirect(f"{path}/2")
    assert send(site, f"{path}/3", {"true": "yes"}, overlay) == Redirect(f"{path}/2")
    assert 'value="Ada Brook"' in show(site, path, overlay)


def test_a_box_of_consent_must_be_ticked(site: Forms) -> None:
    overlay, path = Overlay(), start(site)
    send(site, path, FIRST, overlay)
    send(site, f"{path}/2", SECOND, overlay)
    page = send(site, f"{path}/3", {}, overlay)
    assert isinstance(page, Page)
    assert "Please tick" in render(site, page, overlay, "auto")
    assert overlay.state == {}


def test_a_suspended_service_takes_no_application(site: Forms) -> None:
    service = next(each for each in site.main.entities if APPLY.offered(each) and APPLY.refuses(each))
    overlay = Overlay()
    assert "Not possible: suspended." in show(site, APPLY.path(service), overlay)
    send(site, APPLY.path(service), FIRST, overlay)
    assert overlay.drafts == {}


def test_boxes_of_one_name_arrive_together(site: Forms) -> None:
    values = [("topics", "Jobs"), ("topics", "Markets"), ("rhythm", "daily"), ("email", "me@example.com")]
    with SiteServer() as server:
        there = f"http://127.0.0.1:{server.port}/do/news"
        headers = {"Host": site.host, SESSION_HEADER: "boxes"}
        urlopen(HttpRequest(there, urlencode(values).encode(), headers)).close()
        state = server.state("boxes")[site.host]["state"]
    assert state["subscriptions/new-1/topics"] == "Jobs, Markets"
