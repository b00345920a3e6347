"""Pose spaces: what a character can do under each label, and the bridges between the labels."""

from understudy.posespace.bridges import Bridges
from understudy.posespace.model import Model
from understudy.posespace.space import PoseSpace, Segment

__all__ = ["Bridges", "Model", "PoseSpace", "Segment"]
