"""Acting: from labels to motion that a face graph makes, never twice the same [Serra 2018, section 5]."""

from understudy.expression.acting.crowd import crowd, frames
from understudy.expression.acting.onto_character import clip_of
from understudy.expression.acting.performance import Performance
from understudy.expression.acting.recovery import recovered
from understudy.expression.acting.synthesis import Settings, act

__all__ = ["Performance", "Settings", "act", "clip_of", "crowd", "frames", "recovered"]
