"""Models that several tests share, learned once in each process."""

from __future__ import annotations

from functools import cache

from understudy import cast
from understudy.character.rig import PosedRig
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.training import FitSettings, fit_library


@cache
def lamp_library() -> ClipLibrary:
    return ClipLibrary.from_asset(cast.load("lamp"))


@cache
def lamp_model() -> PerformanceModel:
    """The lamp's four labels, not learned to the end."""
    return fit_library(lamp_library(), FitSettings(iterations=40), cast="lamp")


def lamp_rig() -> PosedRig:
    return lamp_library().rig
