"""Models that several tests share, learned once in each process."""

from __future__ import annotations

from functools import cache

from understudy import cast
from understudy.posespace import Model
from understudy.posespace.learning import Settings, learn
from understudy.posespace.library import Library
from understudy.rig import PosedRig


@cache
def lamp_library() -> Library:
    return Library.of(cast.load("lamp"))


@cache
def lamp_model() -> Model:
    """The lamp's four labels, not learned to the end."""
    return learn(lamp_library(), Settings(iterations=40), cast="lamp")


def lamp_rig() -> PosedRig:
    return lamp_library().rig
