"""Datasette, walked through: its SQL editor (CodeMirror 5), which is dragged larger, menus, filters and exports."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Awaitable, Callable, Iterator

import pytest

from tests.browser.apps.conftest import Walk, free_port, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

KINDS = (("cat", 4), ("dog", 4), ("duck", 2), ("ant", 6))
EDITOR = "document.querySelector('.CodeMirror').CodeMirror.getValue()"
SQL = "select kind, count(*) as n\nfrom animals group by kind order by n desc, kind"
COMMENT = f"{SQL}\n-- "


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("datasette")
    with sqlite3.connect(folder / "zoo.db") as database:
        database.execute("create table animals (id integer primary key, name text, kind text, legs integer)")
        rows = [(number, f"Animal {number}", *KINDS[number % 4]) for number in range(1, 251)]
        database.executemany("insert into animals values (?, ?, ?, ?)", rows)
    database.close()
    port = free_port()
    command = [sys.executable, "-m", "datasette", "-i", "zoo.db", "-h", "127.0.0.1", "-p", str(port)]
    with served(command, f"http://127.0.0.1:{port}/", folder):
        yield f"http://127.0.0.1:{port}"


async def test_datasette(walk: Callable[[str], Awaitable[Walk]], origin: str) -> None:
    here = await walk(f"{origin}/")
    await browse_a_table(here, origin)
    await filter_it(here, origin)
    await export_it(here)
    await ask_in_sql(here, origin)
    await use_tabs(here, origin)
    await here.end()


async def browse_a_table(here: Walk, origin: str) -> None:
    await here.click("a:text-is('zoo')", f'on <a> "zoo": page is now {origin}/zoo', "document.title == 'zoo'")
    shown = "document.querySelectorAll('.rows-and-columns tbody tr').length == 100"
    await here.click("h3 a:text-is('animals')", f'on <a> "animals": page is now {origin}/zoo/animals', shown)
    await here.do(
        "scroll", direction="down", amount=1, says=r"scroll down 1: page is now at \d+%", then="scrollY == innerHeight"
    )
    await here.do("scroll", direction="down", amount=10, says="scroll down 10: page is now at its end")
    await here.do(
        "scroll",
        direction="down",
        amount=1,
        says="scroll down 1: nothing moved, already at the bottom",
        then="scrollY > 0",
    )
    await here.do(
        "scroll", direction="up", amount=10, says="scroll up 10: page is now at its start", then="scrollY == 0"
    )
    await here.hover("th[data-column=kind] .dropdown-menu-icon", "on <svg>")


async def filter_it(here: Walk, origin: str) -> None:
    menu = "document.querySelector('.dropdown-menu')"
    opened = f"{menu}.checkVisibility() && {menu}.innerText.includes('Facet by this')"
    await here.click("th[data-column=kind] .dropdown-menu-icon", "on <svg>: page changed", opened)
    facet = f"{origin}/zoo/animals?_facet=kind"
    counted = "document.querySelector('.facet-results').innerText.includes('duck 63')"
    says = f'on <a> "Facet by this": page is now {facet.replace("?", "[?]")}'
    await here.click(".dropdown-menu a:text-is('Facet by this')", says, counted)
    heading = "document.querySelector('h3').innerText == '63 rows where kind = \"duck\"'"
    await here.click(".facet-results a:text-is('duck')", 'on <a> "duck": page is now .*&kind=duck', heading)

    column = "document.querySelector('select[name=_filter_column]')"
    await here.click(
        "select[name=_filter_column]", 'on <select> "_filter_column": now open', f"{column}.matches(':open')"
    )
    await here.write(
        "legs", 'into <select> "_filter_column"', f"{column}.value == 'legs' && !{column}.matches(':open')"
    )
    await here.press("Tab", says='<select> "_filter_op" is focused', then="document.activeElement.name == '_filter_op'")
    for value in ("!=", "contains"):
        label = "document.activeElement.selectedOptions[0].label"
        says = f'<select> "_filter_op" now holds "{value}"'
        await here.press("ArrowDown", says=says, then=f"{label} == '{value}'")
    await here.press("Tab", says='<input> "_filter_value" is focused')
    await here.write("2", 'into <input> "_filter_value"', "document.activeElement.value == '2'")
    await here.press(
        "Enter", says="page is now .*legs__contains=2.*", then="location.search.includes('kind__exact=duck')"
    )


async def export_it(here: Walk) -> None:
    await here.click(
        "a:text-is('CSV')", 'on <a> "CSV": page is now .*[.]csv.*', "document.body.innerText.includes('duck')"
    )
    await here.do("go_back", says="go_back: page is now .*legs__contains=2.*", then="document.title.startsWith('zoo')")
    seen = "document.querySelector('#export').getBoundingClientRect().bottom <= innerHeight"
    await here.click("a:text-is('advanced')", 'on <a> "advanced": page is now .*#export', seen)
    box = "document.querySelector('#export input[name=_dl]').checked"
    await here.click("#export input[name=_dl]", 'on <input> "download file": now checked', box)
    await here.press("Space", says='<input> "download file" is now unchecked', then=f"!{box}")
    await here.press("Space", says='<input> "download file" is now checked', then=box)
    refused = 'download of "animals.csv" refused'
    await here.click(
        "#export input[type=submit]", f'on <input> "Export CSV": .*; {refused}', "location.hash == '#export'"
    )


async def ask_in_sql(here: Walk, origin: str) -> None:
    await here.do("goto_url", url=f"{origin}/zoo", says=f"goto_url: page is now {origin}/zoo", then=f"{EDITOR} != ''")
    refused = 'on <a> "zoo.db": nothing changed; download of "zoo.db" refused'
    await here.click("a:text-is('zoo.db')", refused, "location.pathname == '/zoo'")
    await here.click(".CodeMirror-lines", "on <.*>: <textarea> is focused")
    await here.write(SQL, "into <textarea>, which does not tell what it took", f"{EDITOR} == {SQL!r}")
    await here.press(
        "ctrl+a", says="page changed", then="document.querySelector('.CodeMirror').CodeMirror.somethingSelected()"
    )
    await here.press("ctrl+c", says="(page changed|sent to <textarea>, which does not tell what changed)")
    await here.press("ctrl+End", "Enter", "-", "-", "Space", says="page changed", then=f"{EDITOR} == {COMMENT!r}")
    await here.press("ctrl+v", says="page changed", then=f"{EDITOR} == {COMMENT + SQL!r}")
    await here.press("ctrl+z", says="page changed", then=f"{EDITOR} == {COMMENT!r}")
    await here.press("ctrl+z", says="page changed", then=f"{EDITOR} == {SQL!r}")
    handle = await here.at(".CodeMirror", 0.988, 0.9)
    height = "document.querySelector('.CodeMirror').offsetHeight"
    before = await here.session.page.evaluate(height)
    await here.drag(handle, (handle[0], handle[1] + 150), "page changed", f"Math.abs({height} - {before} - 150) < 5")
    await here.click(
        "button:text-is('Format SQL')", 'on <button> "Format SQL": page changed', f"{EDITOR}.includes('group by')"
    )
    rows = "document.querySelector('.rows-and-columns tbody').innerText == 'dog\\t63\\nduck\\t63\\nant\\t62\\ncat\\t62'"
    await here.click("input[value='Run SQL']", 'on <input> "Run SQL": page is now .*/zoo[?]sql=.*', rows)


async def use_tabs(here: Walk, origin: str) -> None:
    await here.do("new_tab", says="new_tab: tab 1 is open", then="location.href == 'about:blank'")
    row = f"{origin}/zoo/animals/7"
    await here.do(
        "goto_url", url=row, says=f"goto_url: page is now {row}", then="document.body.innerText.includes('Animal 7')"
    )
    await here.do(
        "switch_tab", index=0, says="switch_tab: now on tab 0, .*", then="location.search.startsWith('?sql=')"
    )
    await here.do("switch_tab", index=1, says=f"switch_tab: now on tab 1, {row}")
    await here.do("close_tab", says="close_tab: closed; now on tab 0, .*", then="location.search.startsWith('?sql=')")
    await here.do("wait", seconds=0.1, says="waited 0.1 s")
