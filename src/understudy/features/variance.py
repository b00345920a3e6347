"""How many principal components an animation needs [Bailey 2016, section 4.2]."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

ENOUGH = 0.85  # of the variance: below, compressed animation visibly differs from its source


def explained_variance(values: Array) -> Array:
    """(k,) the share v(d) of the variance of rows (F, C) that the first d = 1 ... k components explain.

    v(d) = sum of the first d variances / sum of all, the variances being the squared singular values of the rows less
    their mean. Rows that are all alike need no component, and get an empty array.
    """
    variances = np.square(np.linalg.svd(values - values.mean(axis=0), compute_uv=False))
    total = variances.sum()
    rounding = len(values) * np.finfo(np.float64).eps ** 2 * np.square(values).sum()
    if total <= rounding:
        return np.zeros(0)
    return np.asarray(np.cumsum(variances) / total)


def components_for(values: Array, share: float = ENOUGH) -> int:
    """The fewest components that explain `share` of the variance of rows (F, C)."""
    explained = explained_variance(values)
    return int(np.searchsorted(explained, share - 1e-12) + 1) if len(explained) else 0
