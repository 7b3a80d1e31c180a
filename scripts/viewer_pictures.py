"""Take the pictures of `docs/viewer.md`: pages of the viewer on a made-up run, `docs/images/viewer-*.png`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.view.demo_run import create, fill  # noqa: E402
from tests.view.viewer_server import served  # noqa: E402
from webdojo.browser.chromium import find_chromium  # noqa: E402
from webdojo.browser.config import BrowserConfig  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PICTURES = {
    "viewer-dashboard": ("/runs/quickstart", 1280, "light"),
    "viewer-list": ("/runs/quickstart/trajectories?phase=eval_rl&outcome=success", 1280, "light"),
    "viewer-trajectory": ("/runs/quickstart/trajectory?id=rl-7", 1280, "dark"),
    "viewer-compare": ("/compare?run=quickstart&id=rl-7&id=rl-6&id=rl-3", 1280, "light"),
    "viewer-phone": ("/runs/quickstart/trajectory?id=rl-7", 390, "dark"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        with create(Path(folder) / "quickstart") as store:
            fill(store, size=(640, 512))
        browser = playwright.chromium.launch(executable_path=find_chromium(BrowserConfig()), args=["--no-sandbox"])
        with served([Path(folder)]) as address:
            for name, (path, width, scheme) in PICTURES.items():
                page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
                page.goto(address + path, wait_until="networkidle" if "trajectory" in path else "load")
                page.wait_for_timeout(700)
                page.screenshot(path=IMAGES / f"{name}.png")
                page.close()
                print(f"{name}.png: {(IMAGES / f'{name}.png').stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
