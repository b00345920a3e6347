"""Leave one out: how well a mapping foretells a pose that the animator made, without having seen it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.retarget.baselines import Learner
from understudy.retarget.pairs import Pairs


def leave_one_out(pairs: Pairs, learner: Learner) -> Array:
    """(N,) metres, the mean distance of the markers of each pair, mapped by what was learned from all others."""
    if len(pairs) < 3:
        raise InvalidInput(f"leaving one out needs at least 3 pose pairs, but there are {len(pairs)}")
    return np.array(
        [errors(learner(pairs.without(i)).map(pairs.source[[i]]).points, pairs, [i])[0] for i in range(len(pairs))]
    )


def learned_error(pairs: Pairs, chosen: Sequence[int], learner: Learner) -> float:
    """Metres: the mean error over all pairs of what is learned from the `chosen` ones, those among them included."""
    mapped = learner(pairs.some(chosen)).map(pairs.source)
    return float(errors(mapped.points, pairs, range(len(pairs))).mean())


def errors(points: Array, pairs: Pairs, numbers: Sequence[int]) -> Array:
    """(n,) metres, mean distance of points (n, Q, 3) to the targets of some pairs."""
    return np.asarray(np.linalg.norm(points - pairs.target[list(numbers)], axis=-1).mean(axis=-1))
