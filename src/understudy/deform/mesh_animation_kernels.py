"""`mesh_animation_weights`, compiled: the same functions, each calling the compiled form of those before it."""

from __future__ import annotations

import types
from typing import Any

from understudy.deform import mesh_animation_weights as plain
from understudy.maths.accelerate import FAST, compiled

_NAMES = dict(vars(plain))  # the globals of the compiled copies, so that the plain functions stay plain


def _compiled(name: str) -> Any:
    source: types.FunctionType = getattr(plain, name)
    copy = types.FunctionType(source.__code__, _NAMES, name)
    copy.__module__, copy.__qualname__ = __name__, name
    _NAMES[name] = compiled(fastmath=FAST, error_model="numpy")(copy)
    return _NAMES[name]


equality = _compiled("equality")
convex = _compiled("convex")
sparse_convex = _compiled("sparse_convex")
vertex_weights = _compiled("vertex_weights")
