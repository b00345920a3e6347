"""Frame-by-frame performance: commands in, one pose of the rig a frame out, with explicit state (init / step).

Pose spaces: what a character can do under each label, and the bridges between the labels.
"""

from __future__ import annotations

from understudy.perform.bridges import Bridges
from understudy.perform.model import PoseModel
from understudy.perform.pose_space import PoseSpace, Segment

__all__ = ["Bridges", "PoseModel", "PoseSpace", "Segment"]
