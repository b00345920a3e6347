"""Controls -> joints, shape weights -> vertices. Any continuous function will do."""

from understudy.rig.baking import bake
from understudy.rig.direct import DirectRig
from understudy.rig.ensemble import pose_all
from understudy.rig.rig import Rig

__all__ = ["DirectRig", "Rig", "bake", "pose_all"]
