import math
import xml.etree.ElementTree as ET

import pytest

from webdojo.view.charts import Bar, Series, grouped_bars, line_chart, stacked_bars, ticks
from webdojo.view.page import number


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.25, 0.5, 0.75, 1]),
        (0.3, 0.62, [0.3, 0.4, 0.5, 0.6, 0.7]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (0, 2300, [0, 1000, 2000, 3000]),
    ],
)
def test_ticks_are_round_and_span_the_data(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.0, 0.5, -3.0])
def test_ticks_of_a_single_value_enclose_it(value):
    marks = ticks(value, value)
    assert marks[0] < value < marks[-1]


def test_numbers_for_people():
    assert [number(v) for v in (0.01234, 4.2, 1240.4, math.nan)] == ["0.0123", "4.2", "1,240", "–"]


def test_line_breaks_where_a_figure_is_missing():
    points = [(1, 0.1), (2, 0.2), (3, math.nan), (4, 0.4), (5, 0.3)]
    root = ET.fromstring(line_chart([Series("KL", "rl", points)], "KL by iteration"))
    lines = [element.get("points") for element in root.iter("polyline")]
    assert [len((line or "").split()) for line in lines] == [2, 2]
    assert len(list(root.iter("circle"))) == 4


def test_bars_are_as_high_as_their_values_and_names_are_escaped():
    bars = [Bar("sft", "<SFT>", 0.25, 0.1, 0.4), Bar("rl", "RL", 1.0, 0.9, 1.0)]
    root = ET.fromstring(grouped_bars([("1", bars)], "a < b"))
    heights = [float(rect.get("height", "")) for rect in root.iter("rect")]
    assert heights[0] == pytest.approx(heights[1] / 4, abs=0.1)
    assert [t.text for t in root.iter("title")] == ["<SFT>", "RL"]
    assert root.get("aria-label") == "a < b"


def test_stack_adds_up():
    root = ET.fromstring(stacked_bars([(1, [("a", "x", 10.0), ("b", "y", 20.0)]), (2, [("a", "x", 30.0)])], "time"))
    a, b, c = (float(rect.get("height", "")) for rect in root.iter("rect"))
    assert a + b == pytest.approx(c, abs=0.2)


def test_empty_and_single_points_are_drawn():
    assert "<svg" in line_chart([Series("x", "rl", [])], "nothing")
    assert "circle" in line_chart([Series("x", "rl", [(3, 0.0)])], "one")
