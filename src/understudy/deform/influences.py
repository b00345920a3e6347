"""Which joints a vertex may hang on: those of its linear blend, then the nearest ones, up to a limit.

A fitted linear blend leaves a vertex on one joint as soon as the others do not help it. Richer methods can use
the neighbours all the same (a muscle bulges on one bone because of the next), and their ridge decides whether they do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.deform import simplex
from understudy.deform.examples import Examples
from understudy.deform.linear_fit import LinearSettings, LinearSkin

NEARNESS = 1e-3  # a joint that is used by a thousandth or more comes before any that is merely near


def base_skin(examples: Examples, settings: Any) -> LinearSkin:
    """The linear blend below a method: fitted, or the artist's, as its settings (`influences`, `weights`) ask for."""
    return LinearSkin.fit(examples, LinearSettings(influences=settings.influences, weights=settings.weights))


def influence_sets(skin: LinearSkin, examples: Examples, most: int) -> tuple[Array, Array]:
    """Joints (V, K), each row sorted, and the linear blend's weights on them (V, K); K is `most`, or all joints."""
    bones = len(skin.inverse_binds)
    full = np.zeros((len(skin.rest), bones))
    np.add.at(full, (np.arange(len(full))[:, None], skin.joints), skin.weights)
    away = simplex.bone_distances(examples) / examples.rest_size
    score = full + NEARNESS / (1 + away)
    sets = np.sort(np.argsort(-score, axis=1, kind="stable")[:, : min(most, bones)], axis=1)
    weights = np.take_along_axis(full, sets, axis=1)
    return sets, weights / weights.sum(axis=1, keepdims=True)
