"""Motion graphs: clips rejoined where they are alike, the baseline beside learned pose spaces."""

from understudy.motiongraph.blend import blended, fade
from understudy.motiongraph.graph import MotionGraph
from understudy.motiongraph.pieces import Piece, seams_of
from understudy.motiongraph.reach import Reach

__all__ = ["MotionGraph", "Piece", "Reach", "blended", "fade", "seams_of"]
