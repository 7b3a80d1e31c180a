"""The frames of a tab, those of other processes included: where they are in the viewport, and our world in each.

A frame of another site runs in a process with a DevTools channel of its own, which begins at the outermost of its
frames. Chromium gives places in the viewport of that frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.page.world import World

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in CSS pixels."""


@dataclass(frozen=True)
class InnerFrame:
    """A frame inside the page of a tab."""

    world: World
    frame_id: str
    around: CDPSession
    """The channel of the document that it is in."""
    outer: InnerFrame | None
    """The outermost frame of the process of that document; None if that is the process of the tab."""

    async def box_px(self) -> Box | None:
        """Return where in the viewport it shows its page; None if it is not shown."""
        left, top = 0.0, 0.0
        if self.outer is not None:
            outside = await self.outer.box_px()
            if outside is None:
                return None
            left, top = outside[:2]
        try:
            owner = await self.around.send("DOM.getFrameOwner", {"frameId": self.frame_id})
            shown = await self.around.send("DOM.getBoxModel", {"backendNodeId": owner["backendNodeId"]})
        except PlaywrightError:  # gone, or `display: none`
            return None
        corners = shown["model"]["content"]
        xs, ys = corners[0::2], corners[1::2]
        return min(xs) + left, min(ys) + top, max(xs) + left, max(ys) + top


class Frames:
    """The frames inside a tab at one moment; `close` gives the channels to other processes back."""

    def __init__(self) -> None:
        self.all: list[InnerFrame] = []
        self._channels: list[CDPSession] = []
        self._channel_of: dict[str, tuple[CDPSession, InnerFrame | None]] = {}
        """By id of a frame: the channel of its process, and the outermost frame there, as in `InnerFrame`."""

    @classmethod
    async def of(cls, page: Page, cdp: CDPSession) -> Frames:
        """Find the frames of a page, whose own channel is `cdp`."""
        frames = cls()
        if len(page.frames) > 1:
            await frames._add(cdp)
        for frame in page.frames[1:]:
            if len(page.frames) <= len(frames._channel_of):
                break
            try:
                channel = await page.context.new_cdp_session(frame)
            except PlaywrightError:  # it runs in the process of the frame around it
                continue
            frames._channels.append(channel)
            await frames._add(channel)
        return frames

    async def _add(self, channel: CDPSession) -> None:
        """Add the frames of a process: those inside its outermost one, and that one itself if a frame is around it."""
        tree = (await channel.send("Page.getFrameTree"))["frameTree"]
        first, outer = tree["frame"], None
        if "parentId" in first:
            if first["parentId"] not in self._channel_of:  # it has gone meanwhile
                return
            outer = self._inner(channel, first["id"], *self._channel_of[first["parentId"]])
        self._channel_of[first["id"]] = (channel, outer)
        for frame_id in _inside(tree):
            self._inner(channel, frame_id, channel, outer)
            self._channel_of[frame_id] = (channel, outer)

    def _inner(self, channel: CDPSession, frame_id: str, around: CDPSession, outer: InnerFrame | None) -> InnerFrame:
        self.all.append(InnerFrame(World(channel, frame_id), frame_id, around, outer))
        return self.all[-1]

    async def close(self) -> None:
        for channel in self._channels:
            with suppress(PlaywrightError):  # its frame may be gone
                await channel.detach()


def _inside(tree: dict[str, Any]) -> Iterator[str]:
    """Yield the ids of the frames inside the first one of a tree."""
    for child in tree.get("childFrames", ()):
        yield child["frame"]["id"]
        yield from _inside(child)
