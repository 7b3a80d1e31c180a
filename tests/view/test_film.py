import base64
import io

import pytest
from PIL import Image

from tests.store.fabricate import page_image, trajectory, turn
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall
from webdojo.view.film import Mark, call_text, data_url, film, marks


def call(name, **arguments):
    return ToolCall(name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("made", "mark"),
    [
        (call("click", x=500, y=250), Mark("click", 640, 250)),
        (call("click", x=0, y=1000, click_type="double"), Mark("double", 0, 1000)),
        (call("click", x=500, y=250, button="right"), Mark("right", 640, 250)),
        (call("hover", x=1000, y=0), Mark("hover", 1280, 0)),
        (call("drag", x1=100, y1=200, x2=500, y2=250), Mark("drag", 128, 200, 640, 250)),
        (call("scroll", direction="down", amount=1), Mark("scroll", 640, 500, 640, 680)),
        (call("scroll", direction="left", amount=1, x=500, y=250), Mark("scroll", 640, 250, 460, 250)),
    ],
)
def test_marks_are_in_the_pixels_of_the_screenshot(made, mark):
    assert marks([made], 1280, 1000) == [mark]


@pytest.mark.parametrize(
    "made",
    [
        call("click", x=1001, y=5),
        call("click", x="500", y=5),
        call("click", y=5),
        call("write", text="kettle"),
        call("drag", x1=1, y1=2, x2=3),
        call("scroll", direction=["down"], amount=1),
    ],
)
def test_calls_without_a_good_point_draw_nothing(made):
    assert marks([made], 1280, 1000) == []


def test_several_marks_are_numbered():
    found = marks([call("click", x=1, y=1), call("write", text="a"), call("click", x=2, y=2)], 100, 100)
    assert [mark.number for mark in found] == [1, 2]


def test_call_reads_as_people_write_it():
    assert call_text(call("write", text='say "é"')) == 'write(text="say \\"é\\"")'


def test_wide_screenshots_are_scaled_down_and_small_ones_kept():
    images = MemoryImages()
    large, small = page_image(images, 1, (1280, 1000)), page_image(images, 1)
    shown = Image.open(io.BytesIO(base64.b64decode(data_url(images, large).partition(",")[2])))
    assert shown.size == (720, 562)
    assert base64.b64decode(data_url(images, small).partition(",")[2]) == images.get(small)


def test_long_episodes_show_their_beginning_and_end():
    images = MemoryImages()
    turns = [turn(page_image(images, 1), [call("click", x=k, y=k)]) for k in range(30)]
    frames = film(trajectory("a", images, turns=turns))
    assert [frame.title for frame in frames[:2]] == ["Step 1", "Step 2"]
    assert [frame.title for frame in frames[-5:]] == ["Step 27", "Step 28", "Step 29", "Step 30", "Final screen"]
    assert [frame.left_out for frame in frames if frame.left_out] == [18]
