"""Acting: from labels to facial motion by a face graph, different for every seed [Serra 2018, section 5]."""

from __future__ import annotations

from understudy.express.acting.cues import ExpressionTake
from understudy.express.acting.synthesis import ActSettings, act, crowd, crowd_frames, recover_take
from understudy.express.acting.to_character import clip_of

__all__ = ["ActSettings", "ExpressionTake", "act", "clip_of", "crowd", "crowd_frames", "recover_take"]
