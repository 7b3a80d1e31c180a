"""Copy, cut and paste within one session.

All contexts of a Chromium share its clipboard, so one session could paste what another one copied. Therefore each
session keeps its own: copying remembers the selected text, and pasting sends it to the page as a paste event, or
types it if the page does not handle that event.
"""

from __future__ import annotations

from playwright.async_api import Page

from webdojo.browser.page.probe import FOCUS_JS

_COPY = {"controlormeta+c", "controlormeta+insert"}
_CUT = {"controlormeta+x", "shift+delete"}
_PASTE = {"controlormeta+v", "controlormeta+shift+v", "shift+insert"}

_SELECTED_JS = f"""() => {{
  {FOCUS_JS}
  return (focused()?.ownerDocument || document).getSelection().toString();
}}"""

_PASTED_JS = f"""(text) => {{
  {FOCUS_JS}
  const data = new DataTransfer();
  data.setData('text/plain', text);
  return !(focused() || document).dispatchEvent(
    new ClipboardEvent('paste', {{clipboardData: data, bubbles: true, cancelable: true, composed: true}}));
}}"""
"""Returns whether the page handled the pasted text itself."""


class Clipboard:
    """The text that a session copied last."""

    def __init__(self) -> None:
        self.text = ""

    async def press(self, page: Page, chord: str) -> str | None:
        """Press a chord; chords that copy, cut or paste use this clipboard.

        Args:
            chord: as `keys.normalise_keys` returns it.

        Returns: a note for the feedback if there was nothing to paste, else None.
        """
        name = chord.lower()
        if name in _PASTE:
            if not self.text:
                return "nothing was copied before"
            if not await page.evaluate(_PASTED_JS, self.text):
                await page.keyboard.insert_text(self.text)
            return None
        if name in _COPY | _CUT:
            self.text = await page.evaluate(_SELECTED_JS) or self.text
        await page.keyboard.press(chord)
        return None
