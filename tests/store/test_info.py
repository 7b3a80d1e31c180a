import sys

from webdojo.store.info import run_info


def test_info_names_what_a_result_depends_on():
    info = run_info(7, chromium=sys.executable)
    assert info["seed"] == 7
    assert info["versions"]["python"] == sys.version.split()[0]
    assert {"torch", "transformers", "playwright", "webdojo"} <= set(info["versions"])
    assert info["versions"]["chromium"].startswith("Python ")
    assert info["machine"]["cores"] >= 1
    assert info["machine"]["memory_gb"] > 0


def test_a_chromium_that_does_not_answer_is_unknown():
    assert run_info(0, chromium="/nowhere/chromium")["versions"]["chromium"] == "unknown"
