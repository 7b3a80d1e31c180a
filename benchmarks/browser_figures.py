"""The figures of the browser benchmark: rows from repeated runs, the headline from rows, a table for people."""

from __future__ import annotations

from statistics import median
from typing import Any

from browser_run import Job

REFERENCE_PAGE, REFERENCE_SESSIONS = "static", 8
"""Page and sessions of the headline figures, where they are among those measured; else the first, and the most."""

HEADLINE = (
    *("cpu_ms_default", "cpu_ms_begin_frame", "x_jpeg_worst", "x_playwright_png", "x_browsergym"),
    *("pss_mb_per_session", "sessions_max", "new_session_ms"),
)
JPEG_SESSIONS = 4
"""Sessions at which a step is compared with Playwright's own JPEG."""
_SUMMED = ("steps", "crashes", "lost_actions", "screenshots_read", "screenshots_late", "processes_left")
_DETAILS = (
    "cpu_ms_step_by_kind",
    "wall_ms_step_by_phase",
    "tree_pss_mb",
    "tree_pss_mb_by_step",
    "growth_percent",
    "errors",
)


def summarise(runs: list[tuple[Job, dict[str, Any]]]) -> list[dict[str, Any]]:
    """One row for each thing that was measured: medians over its repeats, and their spread."""
    groups: dict[tuple[str, str, str, int], list[dict[str, Any]]] = {}
    for job, found in runs:
        groups.setdefault((job.measure, job.way, job.page, job.sessions), []).append(found)
    rows = []
    for (measure, way, page, sessions), repeats in groups.items():
        good = [found for found in repeats if "skipped" not in found and "failed" not in found]
        row: dict[str, Any] = {"measure": measure, "way": way, "page": page, "sessions": sessions, "repeats": len(good)}
        for reason in ("skipped", "failed"):
            row |= {reason: said} if (said := sorted({found[reason] for found in repeats if reason in found})) else {}
        if good:
            row |= _medians(good)
        rows.append(row)
    return rows


def _medians(repeats: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    spread: dict[str, list[float]] = {}
    for key, first in repeats[0].items():
        values = [found[key] for found in repeats]
        if key in _SUMMED:
            row[key] = sum(values)
        elif isinstance(first, dict):
            names = list(dict.fromkeys(name for value in values for name in value))
            row[key] = {name: _middle([value.get(name, 0.0) for value in values]) for name in names}
        elif isinstance(first, list):
            row[key] = sorted({item for value in values for item in value})
        else:
            row[key] = _middle(values)
            spread[key] = [round(min(values), 2), round(max(values), 2)]
    return row | {"spread": spread}


def _middle(values: list[float]) -> float:
    return round(median(values), 2)


def headline(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """The figures of `HEADLINE`; None where a row is missing, or where actions were lost in it."""
    page = REFERENCE_PAGE if any(row["page"] == REFERENCE_PAGE for row in rows) else rows[0]["page"]
    found = {
        (row["measure"], row["way"], row["sessions"]): row
        for row in rows
        if (row["page"] == page or row["measure"] == "new_session") and row["repeats"] and not row.get("lost_actions")
    }
    counts = sorted({sessions for measure, _, sessions in found if measure == "steps"})
    reference = REFERENCE_SESSIONS if REFERENCE_SESSIONS in counts else max(counts, default=0)

    def figure(key: str, way: str, sessions: int = reference, measure: str = "steps") -> float | None:
        return found.get((measure, way, sessions), {}).get(key)

    def times(way: str) -> float | None:
        ours, theirs = figure("steps_per_s", "default"), figure("steps_per_s", way)
        return round(ours / theirs, 2) if ours and theirs else None

    def jpeg_worst() -> float | None:
        """Playwright's CPU time over ours on the page where that is least, of the pages with both."""
        cost = {
            (row["page"], row["way"]): row["cpu_ms_step"]
            for row in rows
            if row["measure"] == "steps" and row["sessions"] == JPEG_SESSIONS and row["repeats"]
        }
        theirs = {page: spent for (page, way), spent in cost.items() if way == "playwright_jpeg"}
        ratios = [spent / cost[page, "default"] for page, spent in theirs.items() if (page, "default") in cost]
        return round(min(ratios), 2) if ratios else None

    most = max((n for n in counts if figure("crashes", "default", n) == 0), default=0)
    one, all_of_them = figure("chromium_pss_mb", "default", 1), figure("chromium_pss_mb", "default", most)
    further = round((all_of_them - one) / (most - 1), 2) if one and all_of_them and most > 1 else None
    values = (
        *(figure("cpu_ms_step", "default"), figure("cpu_ms_step", "begin_frame")),
        *(jpeg_worst(), times("playwright_png"), times("browsergym_no_delays")),
        *(further, most or None, figure("new_session_ms", "default", 1, "new_session")),
    )
    return dict(zip(HEADLINE, values, strict=True))


def endurance_headline(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Steps, failures and growth of the first way that ran."""
    return {key: rows[0].get(key) for key in ("steps", "crashes", "lost_actions", "growth_percent")}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for people."""
    columns = (
        *("steps_per_s", "cpu_ms_step", "p50_ms", "p95_ms", "chromium_pss_mb", "new_session_ms"),
        *("crashes", "lost_actions", "screenshots_late"),
    )
    lines = ["  ".join([f"{'page':8} {'way':20} {'n':>3}", *columns])]
    for row in rows:
        start = f"{row['page']:8} {row['way']:20} {row['sessions']:3}"
        if not row["repeats"]:
            lines.append(f"{start}  {'; '.join(row.get('skipped', []) + row.get('failed', []))}")
            continue
        lines.append("  ".join([start, *(f"{row.get(column, ''):>{len(column)}}" for column in columns)]))
        if row["measure"] == "endurance" or "wall_ms_step_by_phase" in row:
            lines += [f"    {key}: {row[key]}" for key in _DETAILS if row.get(key)]
    return "\n".join(lines)
