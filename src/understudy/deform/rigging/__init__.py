"""Weights without an artist: which joint moves which vertex, found from the shapes of mesh and skeleton alone.

surface     a mesh as it is drawn -> one connected where it looks connected
solid       the space inside it, in cubes
bones       joints -> the segments that they move; which joints only control others
distance    how far each vertex is from each bone, as seen from inside
heat        a smooth share for each bone (Baran and Popovic 2007)
weights     all of it, with a fallback for what heat cannot reach, and a report

A skeleton for a mesh that has none (Baran and Popovic 2007, "Automatic rigging and animation of 3D characters").

template    what is known of bipeds, quadrupeds, birds, fish and lamps
medial      spheres that fill the mesh, and which of them touch
embedding   which sphere holds which joint
refining    joints in between, and all of them to their best places
confidence  how far to trust it
rig         all of it
"""

from __future__ import annotations

from understudy.deform.rigging.heat_weights import AutomaticWeights, automatic_weights
from understudy.deform.rigging.rig import AutomaticRig, automatic_rig
from understudy.deform.rigging.template import TEMPLATES

__all__ = ["AutomaticWeights", "automatic_weights"]


__all__ = ["TEMPLATES", "AutomaticRig", "automatic_rig"]
