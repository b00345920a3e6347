"""Rotations of a take as logarithms about a reference, continuous in time, and back."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import accelerate, linear, quaternion

KERNELS = "understudy.features.decoding_kernels"
TURN = 2 * np.pi


def logarithms(rotations: Array, reference: Array) -> Array:
    """(F, R, 3) v = log(r^-1 q) of quaternions (F, R, 4) about references (R, 4), continuous along F.

    The logarithm of length up to pi jumps where a rotation passes half a turn from its reference. There v is followed
    on: of the vectors v + 2 pi k v / |v|, which all mean the same rotation, the one nearest to the frame before.
    """
    logs = quaternion.log(quaternion.multiply(quaternion.conjugate(reference), rotations))
    # two logarithms of neighbouring frames are further apart than half a turn only where the one has to be followed on
    steps = linear.length(np.diff(logs, axis=0))
    for rotation in np.flatnonzero((steps > np.pi).any(axis=0)):
        logs[:, rotation] = _followed(logs[:, rotation])
    return logs


def exponentials(logs: Array, reference: Array) -> Array:
    """(F, R, 4) q = r exp(v): the inverse of `logarithms`."""
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        return quaternion.multiply(reference, quaternion.exp(logs))
    result = np.empty((*logs.shape[:-1], 4))
    kernels.rotations(logs, reference, result)
    return result


def _followed(logs: Array) -> Array:
    """(F, 3) the same rotations, each as near to the one before as whole turns about its axis allow."""
    result = logs.copy()
    for frame in range(1, len(logs)):
        before, length = result[frame - 1], float(np.linalg.norm(logs[frame]))
        if length > linear.TINY:
            axis = logs[frame] / length
        else:  # no rotation has no axis of its own: whole turns about the last one
            axis = linear.normalise(before)
        turns = np.round((before @ axis - length) / TURN)
        result[frame] = logs[frame] + TURN * turns * axis
    return result
