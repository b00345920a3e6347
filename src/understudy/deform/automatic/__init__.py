"""Weights without an artist: which joint moves which vertex, found from the shapes of mesh and skeleton alone.

surface     a mesh as it is drawn -> one connected where it looks connected
solid       the space inside it, in cubes
bones       joints -> the segments that they move; which joints only control others
distance    how far each vertex is from each bone, as seen from inside
heat        a smooth share for each bone (Baran and Popovic 2007)
weights     all of it, with a fallback for what heat cannot reach, and a report
"""

from understudy.deform.automatic.weights import AutomaticWeights, automatic_weights

__all__ = ["AutomaticWeights", "automatic_weights"]
