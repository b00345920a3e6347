"""Controls -> joints, shape weights -> vertices. Any continuous function will do."""

from understudy.rig.baking import bake
from understudy.rig.direct import DirectRig
from understudy.rig.rig import Rig

__all__ = ["DirectRig", "Rig", "bake"]
