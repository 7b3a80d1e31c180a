import pytest

from tests.agent.cases import CLICK, ENTER, WRITE, seven
from webdojo.agent.gestures import Gesture, GestureKind, read
from webdojo.agent.harness import no_elements
from webdojo.browser.tools import check_call
from webdojo.errors import HarnessError
from webdojo.types import ToolCall

AT = {"x": 450, "y": 250}


@pytest.mark.parametrize(
    "gesture",
    [
        Gesture(GestureKind.CLICK, AT),
        Gesture(GestureKind.CLICK, {"element": 3}),
        Gesture(GestureKind.TYPE, AT, "red mug"),
        Gesture(GestureKind.FILL, {"element": 3}, ""),
        Gesture(GestureKind.SCROLL, value="up"),
        Gesture(GestureKind.SCROLL, {"element": 3}, "down"),
        Gesture(GestureKind.WAIT, value=2.5),
        Gesture(GestureKind.BACK),
        Gesture(GestureKind.GO, value="http://shop-3.localhost/"),
        Gesture(GestureKind.ANSWER, value="$9"),
    ],
)
def test_a_gesture_is_calls_that_the_browser_takes_and_is_read_back(gesture: Gesture) -> None:
    calls = gesture.calls()
    assert [check_call(call) for call in calls] == [None] * len(calls)
    assert read([*calls, ToolCall(name="go_back")]) == (gesture, len(calls))


def test_a_step_of_several_calls_is_read_one_gesture_at_a_time() -> None:
    assert read([CLICK, WRITE, ENTER, CLICK])[1] == 3
    assert read([CLICK, WRITE, CLICK])[1] == 2
    assert read([CLICK, CLICK])[1] == 1


def test_pointing_is_read_as_clicking_and_a_new_tab_for_an_address_as_the_address() -> None:
    assert read([ToolCall(name="hover", arguments=AT)]) == (Gesture(GestureKind.CLICK, AT), 1)
    go = ToolCall(name="goto_url", arguments={"url": "http://a.localhost/"})
    assert read([ToolCall(name="new_tab"), go]) == (Gesture(GestureKind.GO, value="http://a.localhost/"), 2)


def test_leaving_a_tab_is_read_as_going_back() -> None:
    for leave in (ToolCall(name="close_tab"), ToolCall(name="switch_tab", arguments={"index": 0})):
        assert read([leave, CLICK]) == (Gesture(GestureKind.BACK), 1)


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(name="drag", arguments={"x1": 1, "y1": 2, "x2": 3, "y2": 4}),
        ToolCall(name="click", arguments={**AT, "button": "right"}),
        ToolCall(name="scroll", arguments={"direction": "left", "amount": 0.5}),
        WRITE,
        ENTER,
        ToolCall(name="new_tab"),
    ],
)
def test_what_no_gesture_does_is_an_error_that_names_the_call(call: ToolCall) -> None:
    with pytest.raises(HarnessError, match=f"no words for {call.name}"):
        read([call])


def test_numbers_come_from_the_call_or_from_the_place() -> None:
    assert Gesture(GestureKind.CLICK, {"element": 3}).number(no_elements) == 3
    assert Gesture(GestureKind.CLICK, AT).number(seven) == 7
    assert Gesture(GestureKind.CLICK, AT).number(no_elements) is None
    assert Gesture(GestureKind.SCROLL, value="up").number(seven) is None
