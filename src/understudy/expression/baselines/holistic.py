"""The whole face in one graph: the other end of what region graphs are compared with [Serra 2018, section 4].

Nothing can come apart, since every pose is one that a face had; but the brows of one take never meet the mouth of
another, and a pose is merged only where all of the face is alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from understudy.expression.graph.building import Traced, traced
from understudy.expression.graph.face_graph import FaceGraph
from understudy.expression.sequence import Sequence

FACE = "face"


def build(sequences: Iterable[Sequence], **options: Any) -> FaceGraph:
    """`graph.build` with a single region that holds every landmark or weight."""
    return build_traced(sequences, **options).graph


def build_traced(sequences: Iterable[Sequence], **options: Any) -> Traced:
    """`graph.traced` with that region."""
    takes = list(sequences)
    regions = {FACE: takes[0].names} if takes else None
    return traced(takes, regions=regions, **options)
