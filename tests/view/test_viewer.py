"""The viewer in a browser: what people see, click and type, and what hostile trajectories cannot do."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.store.fabricate import page_image, trajectory, turn
from tests.view.demo_run import HOSTILE, create
from tests.view.viewer_server import served
from webdojo.evaluation.metrics import share
from webdojo.store.learner_logprobs import write_learner_logprobs
from webdojo.store.run import RunStore
from webdojo.types import Judgement, ToolCall

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text()
BIDI = "safe\u202egnp.exe\u2066 \u200b"
LOOKS = [(1280, "light"), (390, "dark"), (2560, "light")]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[RunStore]:
    with create(tmp_path_factory.mktemp("runs") / "quickstart") as store:
        for step in range(1, 25):
            store.add_metrics(
                "rl", step, {"success": step / 30, "reward": step / 40, "episodes": 8, "clip_fraction": 0}
            )
        store.write_result({"success_rl": share(30, 40).model_dump(mode="json")})
        one = trajectory("one", store.images, success=False)
        for k in range(60):
            store.add_trajectory(one.model_copy(update={"id": f"eval-{k}"}), "eval_rl", 0)
        for k in range(4):
            store.add_trajectory(attempt(store, k), "rl", k + 1)
        store.add_trajectory(hostile(store), "rl", 24)
        compared = {("try-0", 1): np.array([-0.1] * 10 + [-0.4, np.nan], dtype=np.float32)}
        write_learner_logprobs(store.path, 1, compared)
        yield store


@pytest.fixture(scope="module")
def address(store) -> Iterator[str]:
    with served([store.path.parent]) as address:
        yield address


def attempt(store, k):
    calls = [
        ToolCall(name="click", arguments={"x": 734, "y": 66}),
        ToolCall(name="write", arguments={"text": "amber kettle"}),
    ]
    said = [Judgement(step="screenshot 2", prompt="Is it open?", answer="The page of the kettle is open.")]
    turns = [turn(page_image(store.images, k, scroll=9 * n), calls, f"Look at shelf {n}.") for n in range(6)]
    made = trajectory(
        f"try-{k}", store.images, success=k > 1, turns=turns, group="kettles", reason="The cart is empty."
    )
    assert made.reward is not None
    made.reward.judgements, made.reward.parts = said, {"outcome": float(k > 1)}
    made.task.id = "shop-3:kettle"
    return made


def hostile(store):
    """A trajectory of somebody who wishes its reader ill."""
    vast = store.images.put(vast_png(20_000), 20_000, 20_000, "image/png")
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
    forged = store.images.put(svg, 320, 256, "image/png")
    texts = [HOSTILE, BIDI, "word " * 100_000, "</pre></details><h1>x", "{{ 7*7 }}"]
    turns = [
        turn(image, [ToolCall(name="write", arguments={"text": text})], text, error=text)
        for text, image in zip(texts, [vast, forged, *[page_image(store.images, 1)] * 3], strict=True)
    ]
    made = trajectory("bad<svg/onload=alert(1)>", store.images, turns=turns, instruction=HOSTILE + BIDI, reason=HOSTILE)
    made.task.website, made.task.id, made.group = f"{HOSTILE}.example{BIDI}", HOSTILE, HOSTILE
    made.turns[0].observation.url = f"javascript:alert(1)//{BIDI}"
    return made


def vast_png(side):
    """A black picture, a few kilobytes small, that would take gigabytes where it is decoded."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((side // 8 + 1) * side), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@contextmanager
def opened(browser, url, width=1280, scheme="light", **more) -> Iterator[Page]:
    """A page, which must say nothing on its console and open no dialog."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **more)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    page.goto(url)
    yield page
    context.close()
    assert [each for each in wrong if "404" not in each] == []


PAGES = {
    "runs": "/",
    "dashboard": "/runs/quickstart",
    "trajectories": "/runs/quickstart/trajectories",
    "trajectory": "/runs/quickstart/trajectory?id=try-0",
    "group": "/compare?run=quickstart&group=kettles",
    "task": "/compare?task=shop-3:kettle",
}


def settled(page: Page) -> None:
    """Wait until the page shows what it has to fetch."""
    if page.url.endswith("/trajectories"):
        page.locator(".row .task a").first.wait_for()
    elif page.url.endswith("/quickstart"):
        page.locator("#charts canvas").first.wait_for()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_every_page(browser, address, name, width, scheme):
    with opened(browser, address + PAGES[name], width, scheme, bypass_csp=True) as page:
        settled(page)
        page.evaluate(AXE)
        found = page.evaluate("axe.run().then((found) => found.violations)")
        assert [(each["id"], each["nodes"][0]["html"][:200], len(each["nodes"])) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "path",
    [
        "/runs/quickstart/trajectory?id=bad<svg/onload=alert(1)>",
        "/runs/quickstart/trajectories?sort=-added",
        "/compare?run=quickstart&id=bad<svg/onload=alert(1)>",
    ],
)
def test_a_hostile_trajectory_does_nothing(browser, address, path):
    with opened(browser, address + path, 390) as page:
        if "trajectories" in path:
            expect(page.locator(".row .task").first).to_contain_text("<script>")
            sites = " ".join(page.get_by_label("website").locator("option").all_inner_texts())
            assert "⟦U+202E⟧gnp.exe" in sites and "\u202e" not in sites
        else:
            page.locator("img").first.scroll_into_view_if_needed()
            assert page.evaluate("[...document.images].map((image) => image.naturalWidth)")[0] == 0
            assert page.locator("main script, main h1:has-text('x') >> nth=9").count() == 0
            assert "499,99" not in page.content() and "more characters" in page.content()
            assert "{{ 7*7 }}" in page.content()
            assert page.locator("[onerror], [onload], a[href^=javascript]").count() == 0
        assert "⟦U+202E⟧gnp.exe" in page.locator("main").inner_text()
        assert page.title() != "owned"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_hostile_trajectory_is_exported_without_its_pictures_and_does_nothing(browser, address, tmp_path):
    given = "id=bad%3Csvg%2Fonload%3Dalert(1)%3E&id=try-0"
    file = tmp_path / "export.html"
    file.write_bytes(httpx.get(f"{address}/runs/quickstart/export?{given}").raise_for_status().content)
    with opened(browser, file.as_uri(), 390) as page:
        assert page.locator("article").count() == 2
        sizes = page.evaluate("[...document.images].map((image) => image.naturalWidth)")
        assert sizes[:2] == [0, 0] and max(sizes[2:]) > 0
        assert "⟦U+202E⟧gnp.exe" in page.locator("main").inner_text()
        assert page.locator("[onerror], [onload], a[href^=javascript]").count() == 0
        assert page.title() != "owned"


def test_no_script_of_a_page_would_run(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/runs/quickstart")
    with pytest.raises(Exception, match=r"TrustedHTML|Content Security"):
        page.evaluate("document.body.innerHTML = '<img src=x onerror=alert(1)>'")
    context.close()


def test_the_list_holds_the_rows_in_view_and_its_filters_stand_in_the_address(browser, address):
    with opened(browser, f"{address}/runs/quickstart/trajectories") as page:
        expect(page.locator("#total")).to_contain_text("65 of 65")
        assert page.locator("#rows .row").count() < 60
        page.get_by_label("outcome").select_option("success")
        page.get_by_label("phase").select_option("rl")
        expect(page.locator("#total")).to_contain_text("3 of 65")
        assert "outcome=success" in page.url and "phase=rl" in page.url
        page.reload()
        expect(page.locator("#total")).to_contain_text("3 of 65")
        expect(page.get_by_label("outcome")).to_have_value("success")
        page.get_by_label("words").fill("amber shelf")
        expect(page.locator("#total")).to_contain_text("2 of 65")
        page.get_by_label("words").blur()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/trajectory?**")
        assert "q=amber" in page.url and "outcome=success" in page.url
        page.keyboard.press("p")
        page.wait_for_url("**id=try-3**")
        page.go_back()


def test_a_trajectory_is_read_with_keys(browser, address, store):
    with opened(browser, f"{address}/runs/quickstart/trajectory?id=try-0") as page:
        page.keyboard.press("j")
        page.wait_for_url("**#2")
        assert page.evaluate("document.activeElement.id") == "2"
        assert "The page of the kettle is open." in page.locator(".step").nth(1).inner_text()
        expect(page.locator(".filmstrip [aria-current]")).to_have_attribute("href", "#2")
        page.keyboard.press("t")
        expect(page.locator(".step").nth(1).locator(".token")).to_have_count(12)
        assert "log-probability -0.100" in str(page.locator(".token").first.get_attribute("title"))
        page.get_by_label("Colour tokens by").select_option("gap")
        expect(page.locator(".step").nth(1).locator(".tools .note")).to_contain_text("at most 3.0e-1 nats")
        about = [str(token.get_attribute("title")) for token in page.locator(".token").all()]
        assert [text.partition("learner less engine ")[2] for text in about[-3:]] == ["0.0e+0", "-3.0e-1", ""]
        page.get_by_label("Colour tokens by").select_option("advantage")
        expect(page.locator(".step").nth(1).locator(".tools .note")).to_contain_text("every token has the -0.866 of")
        expect(page.locator(".step").nth(1).locator(".token.against")).to_have_count(12)
        page.locator(".step").nth(1).get_by_text("prompt of 120 tokens").click()
        expect(page.locator(".prompt-image")).to_contain_text("80 tokens")
        expect(page.locator(".typed").first).to_have_text("amber kettle")
        page.get_by_label("tags").fill("early, shelf")
        page.get_by_role("button", name="Keep").click()
        expect(page.locator("#note [role=status]")).to_have_text("kept")
        assert '"shelf"' in (store.path / "notes.json").read_text()
        page.locator(".step .screen").first.click()
        expect(page.locator("dialog[open] svg.marks")).to_be_visible()


def test_a_live_run_shows_what_is_new(browser, address, store):
    with (
        opened(browser, f"{address}/runs/quickstart") as dashboard,
        opened(browser, f"{address}/runs/quickstart/trajectories?phase=live") as listed,
    ):
        expect(dashboard.locator("#iteration")).to_contain_text("24")
        dashboard.locator("#charts canvas").first.wait_for()
        expect(dashboard.locator("#stages tbody tr").first).to_contain_text(re.compile(r"After RL.*%.*–.*%.*40"))
        expect(listed.locator("#total")).to_contain_text("0 of")
        store.add_trajectory(trajectory("live-1", store.images), "live", 25)
        store.add_metrics("rl", 25, {"success": 0.9, "reward": 0.9, "episodes": 20})
        expect(listed.locator("#total")).to_contain_text("1 of")
        expect(dashboard.locator("#iteration")).to_contain_text("25")
        expect(dashboard.locator("#charts .legend").first).to_contain_text(re.compile(r"step 25.*90 %"))
        store.discard_trajectory("live-1")


def test_attempts_stand_beside_one_another(browser, address):
    with opened(browser, f"{address}/compare?task=shop-3:kettle") as page:
        expect(page.locator(".attempts article")).to_have_count(4)
        tops = page.locator(".attempts article").evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect().top)"
        )
        assert len(set(tops)) == 1
        page.get_by_role("link", name="rl 3").click()
        expect(page.locator(".badge").first).to_have_text("success")


def test_a_task_stands_side_by_side_in_the_runs_that_are_named(browser, store, tmp_path):
    with create(tmp_path / "other") as other:
        other.add_trajectory(attempt(other, 2), "rl", 9)
    with served([store.path.parent, tmp_path]) as address:
        compared = f"{address}/compare?task=shop-3:kettle"
        for runs, count in (("", 5), ("&run=other", 1), ("&run=other&run=quickstart", 5)):
            with opened(browser, compared + runs) as page:
                expect(page.locator(".attempts article")).to_have_count(count)


def test_what_is_not_looked_at_is_not_loaded(browser, address, store):
    many = [turn(page_image(store.images, 7, scroll=n), [], f"Look {n}.") for n in range(80)]
    store.add_trajectory(trajectory("long", store.images, turns=many), "eval_rl", 0)
    with opened(browser, "about:blank") as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/runs/quickstart/trajectory?id=long", wait_until="networkidle")
        assert 0 < len([url for url in asked if "/images/" in url and "small" not in url]) < 20
        assert not [url for url in asked if "/turn" in url]
        with page.expect_request(lambda request: "/images/" in request.url and "small" not in request.url):
            page.locator(".step").nth(79).scroll_into_view_if_needed()
    store.discard_trajectory("long")


def test_an_export_needs_no_network(browser, address, tmp_path):
    with opened(browser, f"{address}/runs/quickstart/trajectories?task=shop-3:kettle&sort=added") as page:
        expect(page.locator("#total")).to_contain_text("4 of")
        with page.expect_download() as download:
            page.get_by_role("link", name="Export").click()
        download.value.save_as(tmp_path / "export.html")
    asked: list[str] = []
    with opened(browser, "about:blank") as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "export.html").as_uri())
        assert page.locator("article").count() == 4
        page.locator(".frame .screen").first.click()
        expect(page.locator("dialog[open] img")).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
