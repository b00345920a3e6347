"""Controls -> joints, shape weights, lattice -> vertices. Any continuous function will do."""

from understudy.rig.baking import bake
from understudy.rig.direct import DirectRig
from understudy.rig.ensemble import of, pose_all
from understudy.rig.flattening import flatten
from understudy.rig.layered import LayeredRig
from understudy.rig.posed import PosedRig
from understudy.rig.rig import Rig

__all__ = ["DirectRig", "LayeredRig", "PosedRig", "Rig", "bake", "flatten", "of", "pose_all"]
