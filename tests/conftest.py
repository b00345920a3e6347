"""Which tests share a process, and which are handed out first, where pytest-xdist runs them (`--dist loadgroup`).

The tests of a file stay together, and in some folders those of all files: what they load or compile is then loaded and
compiled once. Tests that share nothing are handed out one by one. The longest begin first, so that no process is left
with one of them at the end.

xdist has marks for groups, but they have no effect with pytest 9.2, which no longer has the attribute that they set.
"""

from __future__ import annotations

import os

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # a process a core: threads of the linear algebra beside that would wait for each other, and burn time as they do
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

TOGETHER = ("tests/batch/", "tests/cast/dragon/", "tests/deform/", "tests/gp/")
APART = (
    *("tests/test_style.py", "tests/test_examples.py", "tests/test_gltf_validator.py", "tests/test_against_three.py"),
    *("tests/test_real_data.py", "tests/fuzz/test_fuzz.py", "tests/formats/test_gltf_usd.py"),
)
FIRST = (
    *("tests/test_style.py::test_style[types]", "tests/deform/", "tests/cli/test_demo.py", "tests/cli/test_learn.py"),
    *("tests/posespace/", "tests/live/", "tests/gp/", "tests/test_examples.py", "tests/cast/dragon/", "tests/cli/"),
    *("tests/fuzz/", "tests/test_gltf_validator.py", "tests/formats/"),
)


def group_of(nodeid: str) -> str:
    """The name of the group that a test belongs to."""
    path = nodeid.split("::")[0]
    return nodeid if path in APART else next((folder for folder in TOGETHER if path.startswith(folder)), path)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {prefix: rank for rank, prefix in enumerate(FIRST)}
    items.sort(key=lambda item: min((ranks[p] for p in FIRST if item.nodeid.startswith(p)), default=len(FIRST)))


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
