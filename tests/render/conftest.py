"""A renderer of each kind, in the SIZE that the test's module gives."""

from __future__ import annotations

import pytest

from understudy.errors import UnderstudyError
from understudy.render import open_renderer


@pytest.fixture(scope="module")
def gl(request):
    """An OpenGL renderer; skips where there is no EGL."""
    try:
        renderer = open_renderer(*request.module.SIZE, prefer="gl")
    except UnderstudyError as error:
        pytest.skip(str(error))
    with renderer:
        yield renderer


@pytest.fixture(scope="module")
def software(request):
    with open_renderer(*request.module.SIZE, prefer="software") as renderer:
        yield renderer


@pytest.fixture(params=["gl", "software"])
def renderer(request):
    return request.getfixturevalue(request.param)
