"""Browsers elsewhere, further proxies, saved log-ins, and who the browser says it is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.browser.conftest import LOCAL
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.network.guard import Guard
from webdojo.browser.network.proxy import GuardProxy
from webdojo.browser.pool import BrowserPool
from webdojo.errors import BrowserError, ConfigError, Failure, Missing, StartError
from webdojo.recipe import Recipe, dump_recipe
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The DevTools address of a Chromium that somebody else started."""
    command = [find_chromium(BrowserConfig()), "--headless", "--remote-debugging-port=0", f"--user-data-dir={tmp_path}"]
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(line.split(" on ")[1].strip() for line in process.stderr if "DevTools listening on" in line)
        yield address
        # What is on PATH may be a shell script that runs Chromium below it.
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()


async def test_a_browser_that_runs_elsewhere(elsewhere: str, site: str, caplog: pytest.LogCaptureFixture) -> None:
    config = BrowserConfig(cdp_url=elsewhere, viewport_px=(500, 500), navigation_retries=0, guard=LOCAL)
    async with BrowserPool(config, MemoryImages()) as pool:
        assert "the guard checks the addresses at which sessions start" in caplog.text  # before any session
        session = await pool.open(f"{site}/")
        click = ToolCall(name="click", arguments={"x": 30, "y": 20})
        assert (await session.act([click])).feedback[0].text.endswith(f"page is now {site}/two")
        inside = ToolCall(name="goto_url", arguments={"url": "http://169.254.169.254/latest"})
        assert "refused" in (await session.act([inside])).feedback[0].text
        with pytest.raises(StartError, match="not a public address"):
            await pool.open("http://10.0.0.1/")


async def dropping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: int, after_s: float) -> None:
    """Pass bytes between a client and a port of this machine, and drop the connection after a while."""
    up, down = await asyncio.open_connection("127.0.0.1", target)

    async def pass_on(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            to.write(data)
            await to.drain()

    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(after_s):
            await asyncio.gather(pass_on(reader, down), pass_on(up, writer))
    down.transport.abort()
    writer.transport.abort()


async def test_a_connection_that_drops_ends_its_sessions_and_the_next_one_works(elsewhere: str, site: str) -> None:
    parts = urlsplit(elsewhere)
    assert parts.port is not None
    lives = iter((3.0, 600.0))
    relay = await asyncio.start_server(
        lambda reader, writer: dropping(reader, writer, parts.port or 0, next(lives)), "127.0.0.1", 0
    )
    port = relay.sockets[0].getsockname()[1]
    config = BrowserConfig(
        cdp_url=f"ws://127.0.0.1:{port}{parts.path}", viewport_px=(500, 500), action_timeout_s=10, guard=LOCAL
    )
    async with relay, BrowserPool(config, MemoryImages()) as pool:
        session = await pool.open(f"{site}/")
        with pytest.raises(BrowserError) as lost:
            for _ in range(20):
                await session.act([ToolCall(name="wait", arguments={"seconds": 0.3})])
                await session.observe()
        assert lost.value.failure is Failure.BROWSER_DIED
        await session.close()
        again = await pool.open(f"{site}/two")
        assert (await again.observe()).url == f"{site}/two"
        await again.close()


async def test_no_browser_there_is_named() -> None:
    with pytest.raises(BrowserError, match=r"no browser at browser\.cdp_url 'http://127\.0\.0\.1:9'"):
        async with BrowserPool(BrowserConfig(cdp_url="http://127.0.0.1:9"), MemoryImages()):
            pass


async def test_a_further_proxy_carries_everything(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_PASSWORD", "secret")
    served: list[str] = []

    class Recorder(Guard):
        async def resolve(self, host: str, port: int) -> list[str]:
            served.append(host)
            return await super().resolve(host, port)

    async with GuardProxy(Recorder(LOCAL)) as upstream:
        config = BrowserConfig(
            proxy=f"http://ada:${{PROXY_PASSWORD}}@127.0.0.1:{upstream.port}",
            viewport_px=(500, 500),
            navigation_retries=0,
            guard=GuardConfig(private_hosts=["127.0.0.1"], blocked_domains=["blocked.example"]),
        )
        async with BrowserPool(config, MemoryImages()) as pool:
            session = await pool.open(f"{site}/two")
            assert (await session.observe()).url == f"{site}/two"
            assert served and set(served) == {"127.0.0.1"}
            for url in ("http://blocked.example/", "http://10.0.0.1/"):
                with pytest.raises(StartError, match="is not opened"):
                    await pool.open(url)
            assert set(served) == {"127.0.0.1"}


@pytest.mark.parametrize("proxy", ["socks5://host:1", "host:8080", "http://:80", "http://host:port"])
def test_a_wrong_proxy_is_named(proxy: str) -> None:
    with pytest.raises(ConfigError, match=r"browser\.proxy is '.*write http://host:port"):
        BrowserPool(BrowserConfig(proxy=proxy), MemoryImages())


def test_passwords_of_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"browser\.proxy has a password, .*\$\{PROXY_PASSWORD\}") as refused:
        BrowserConfig(proxy="http://ada:hunter2@proxy.example:3128").check()
    assert "hunter2" not in str(refused.value)
    monkeypatch.delenv("TOKEN", raising=False)
    named = BrowserConfig(proxy="http://ada:${TOKEN}@proxy.example:3128")
    with pytest.raises(Missing, match=r"TOKEN is not in the environment: set it"):
        named.check()
    monkeypatch.setenv("TOKEN", "hunter2")
    named.check()
    assert "hunter2" not in dump_recipe(Recipe(name="r", browser=named))


async def test_an_address_that_holds_a_token_is_named_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    with pytest.raises(BrowserError, match=r"no browser at browser\.cdp_url 'http://127.0.0.1:9/\$\{TOKEN\}'") as lost:
        async with BrowserPool(BrowserConfig(cdp_url="http://127.0.0.1:9/${TOKEN}"), MemoryImages()):
            pass
    assert "hunter2" not in str(lost.value)


async def test_sessions_start_logged_in_and_say_who_they_are(tmp_path: Path, site: str) -> None:
    state = {
        "cookies": [
            {"name": "who", "value": "ada", "domain": "127.0.0.1", "path": "/", "expires": time.time() + 600}
            | {"httpOnly": False, "secure": False, "sameSite": "Lax"}
        ],
        "origins": [{"origin": site, "localStorage": [{"name": "theme", "value": "dark"}]}],
    }
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state))
    config = BrowserConfig(
        storage_state=str(file), locale="nb-NO", timezone="Asia/Tokyo", user_agent="Robot/1.0", guard=LOCAL
    )
    async with BrowserPool(config, MemoryImages()) as pool:
        first, second = await asyncio.gather(pool.open(f"{site}/cookie"), pool.open(f"{site}/cookie"))
        for session in (first, second):
            assert await session.page.inner_text("body") == "who=ada"
        zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
        found = await first.page.evaluate(f"[localStorage.theme, navigator.language, navigator.userAgent, {zone}]")
        assert found == ["dark", "nb-NO", "Robot/1.0", "Asia/Tokyo"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read"),
        ("{}", "has no 'cook"),
        ('{"cookies": [{"name": "who", "value": "ada"}]}', "cookie 'who' has no domain and no path"),
        ('{"cookies": [{"value": "ada", "domain": "a.example", "path": "/"}]}', "cookie 1 has no name"),
    ],
)
def test_a_wrong_storage_state_is_named(tmp_path: Path, content: str | None, reason: str) -> None:
    file = tmp_path / "state.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=rf"browser\.storage_state .*{reason}"):
        BrowserPool(BrowserConfig(storage_state=str(file)), MemoryImages())
