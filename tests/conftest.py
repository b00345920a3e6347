"""Which tests share a process, and which are handed out first, where pytest-xdist runs them (`--dist loadgroup`).

The tests of a file stay together, and so do those of some folders: what they load or compile is then loaded and
compiled once. Tests that share nothing are handed out one by one. The longest begin first, so that no process is left
with one of them at the end.

xdist has marks for groups, but they have no effect with pytest 9.2, which no longer has the attribute that they set.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # a process a core: threads of the linear algebra beside that would wait for each other, and burn time as they do
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# property tests are judged by their answers, not by the speed of the machine that runs them
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


TOGETHER = {
    "learning": (
        *("tests/gp/", "tests/perform/"),
        *(
            "tests/cli/test_demo.py",
            "tests/cli/test_learn.py",
            "tests/cli/test_perform.py",
            "tests/cli/test_demo_showing.py",
        ),
    ),
    "deforming": ("tests/deform/", "tests/character/skinning/"),
    "dragon": ("tests/cast/dragon/", "tests/assets/dragon/"),
    "batch": ("tests/batch/",),
    "browser": ("tests/studio/e2e/", "tests/studio/test_web.py"),
}
APART = (
    *("tests/test_style.py", "tests/test_examples.py", "tests/test_gltf_validator.py", "tests/test_against_three.py"),
    *("tests/test_real_data.py", "tests/fuzz/test_fuzz.py", "tests/formats/test_gltf_usd.py"),
)
FIRST = (
    *TOGETHER["learning"],
    *TOGETHER["browser"],
    *("tests/test_style.py::test_style[types]", "tests/deform/", "tests/cast/dragon/", "tests/batch/"),
    *("tests/test_examples.py", "tests/cli/", "tests/fuzz/", "tests/test_gltf_validator.py", "tests/formats/"),
)


def group_of(nodeid: str) -> str:
    """The name of the group that a test belongs to."""
    path = nodeid.split("::")[0]
    if path in APART:
        return nodeid
    return next((name for name, places in TOGETHER.items() if path.startswith(places)), path)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        return next((number for number, place in enumerate(FIRST) if item.nodeid.startswith(place)), len(FIRST))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return Grouped(config, log)
