from __future__ import annotations

import numpy as np
import pytest
from benchmarks.baselines import face_graphs
from tests.express.graph.made_takes import takes

from understudy.errors import InvalidInput
from understudy.express.graph import dead_ends


def test_one_region_with_all_landmarks():
    graph = face_graphs.build_holistic(takes(1), compression=0.6, merge_compression=0.5)
    (region,) = graph.regions
    np.testing.assert_array_equal(region.members, np.arange(68))
    assert dead_ends(region).tolist() == []


def test_nothing_to_build_from():
    with pytest.raises(InvalidInput, match="at least one sequence"):
        face_graphs.build_holistic([])
