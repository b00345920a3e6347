"""Rigging of a mesh: weights for a skeleton, or a skeleton as well, from the shapes alone (Baran and Popovic 2007).

surface         a mesh as files have it -> a welded surface; the space inside it, in cubes
bones           joints -> the segments that they move; joints that only control others
heat_weights    weights by heat diffusion, with a fallback where heat cannot reach
template        the skeletons of bipeds, quadrupeds, birds, fish and lamps
embedding       spheres that fill the mesh; which sphere holds which joint
refine          joints in between, and all of them moved to their best positions
rig             all of it, with a confidence
"""

from __future__ import annotations

from understudy.deform.rigging.heat_weights import AutomaticWeights, automatic_weights
from understudy.deform.rigging.rig import AutomaticRig, automatic_rig
from understudy.deform.rigging.template import TEMPLATES

__all__ = ["TEMPLATES", "AutomaticRig", "AutomaticWeights", "automatic_rig", "automatic_weights"]
