"""A skeleton for a mesh that has none (Baran and Popovic 2007, "Automatic rigging and animation of 3D characters").

template    what is known of bipeds, quadrupeds, birds, fish and lamps
medial      spheres that fill the mesh, and which of them touch
embedding   which sphere holds which joint
refining    joints in between, and all of them to their best places
confidence  how far to trust it
rig         all of it
"""

from understudy.deform.rigging.rig import AutomaticRig, automatic_rig
from understudy.deform.rigging.template import TEMPLATES

__all__ = ["TEMPLATES", "AutomaticRig", "automatic_rig"]
