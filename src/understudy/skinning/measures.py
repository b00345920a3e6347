"""How far a deformer is from the truth, and what it costs.

rms, worst    distance of vertices to where they should be, metres
volume        share of the true volume that is missing (or, negative, too much), mean and worst over the poses
stretch       root mean square of |e| / |e_true| - 1 over the edges of all poses
bytes         run-time data a vertex; seconds to fit; microseconds a frame
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.gp.threads import one_thread
from understudy.maths import accelerate, linear

LEAST_SECONDS = 0.05  # of processor time, for the speed of a frame
FLAT = 1e-5  # of the cube of the size: less is a sheet; a needle a hundred times as long as wide has 1e-4
LEAST_RUNS, MOST_RUNS = 3, 20
BATCH = 64  # frames: a block of the kernels of linear blending


@dataclass(frozen=True, eq=False)
class Measures:
    """The figures of one method over P poses."""

    rms: float  # metres
    worst: float  # metres
    size: float  # metres, the diagonal of the rest mesh: what percents are of
    volume_loss: float  # of 1, mean over the poses
    worst_volume_loss: float  # of 1, the largest in size, with its sign
    edge_stretch: float  # of 1
    bytes_a_vertex: float
    fit_seconds: float
    frame_microseconds: float
    pose_rms: Array  # (P,) metres
    worst_pose: int
    worst_vertex: int


def measure(deformer: Deformer, held: Examples, fit_seconds: float) -> Measures:
    """The figures of a fitted deformer on poses that it has not seen."""
    found = deformer.deform(held.transforms)
    distance = linear.length(found - held.vertices)
    pose_rms = np.sqrt((distance**2).mean(axis=1))
    loss = volume_loss(found, held.vertices, held.triangles)
    pose, vertex = np.unravel_index(int(distance.argmax()), distance.shape)
    return Measures(
        rms=float(np.sqrt((distance**2).mean())),
        worst=float(distance.max()),
        size=held.size,
        volume_loss=float(loss.mean()),
        worst_volume_loss=float(loss[np.abs(loss).argmax()]),
        edge_stretch=edge_stretch(found, held.vertices, held.triangles),
        bytes_a_vertex=float(deformer.bytes_a_vertex),
        fit_seconds=fit_seconds,
        frame_microseconds=speed(deformer, held.transforms),
        pose_rms=pose_rms,
        worst_pose=int(pose),
        worst_vertex=int(vertex),
    )


def volumes(vertices: Array, triangles: Array) -> Array:
    """(F,) the volume inside meshes (F, V, 3): the sum of det(a, b, c) / 6 from the middle of each mesh.

    A mesh with holes has none in truth; the cones from the middle close it, which two meshes of nearly one shape share.
    """
    points = np.asarray(vertices, float)
    points = points - points.mean(axis=1, keepdims=True)
    a, b, c = (points[:, triangles[:, i]] for i in range(3))
    return np.asarray(linear.dot(a, linear.cross(b, c)).sum(axis=1) / 6)


def volume_loss(found: Array, truth: Array, triangles: Array) -> Array:
    """(F,) the share of the true volume that is missing in each pose; 0 where there is none to speak of."""
    if not len(triangles):
        return np.zeros(len(truth))
    wanted = volumes(truth, triangles)
    size = linear.length(np.ptp(truth, axis=1))
    empty = np.abs(wanted) <= FLAT * size**3
    return np.where(empty, 0.0, 1 - volumes(found, triangles) / np.where(empty, 1.0, wanted))


def edge_stretch(found: Array, truth: Array, triangles: Array) -> float:
    """Root mean square of the relative change of the edges' lengths, found against true."""
    edges = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), 1), axis=0
    )
    if not len(edges):
        return 0.0
    wanted = linear.length(truth[:, edges[:, 0]] - truth[:, edges[:, 1]])
    have = linear.length(found[:, edges[:, 0]] - found[:, edges[:, 1]])
    sound = wanted > 1e-9 * wanted.max(initial=0.0)
    return float(np.sqrt(np.mean((have[sound] / wanted[sound] - 1) ** 2))) if sound.any() else 0.0


def speed(deformer: Deformer, transforms: Array) -> float:
    """Microseconds a frame on one core, of a batch; the median of several runs after one that loads the code."""
    batch = np.tile(transforms, (-(-BATCH // len(transforms)), 1, 1, 1))[:BATCH]
    runs: list[float] = []
    with one_thread(), one_kernel_thread():
        deformer.deform(batch)
        while len(runs) < LEAST_RUNS or (sum(runs) < LEAST_SECONDS and len(runs) < MOST_RUNS):
            began = time.process_time()
            deformer.deform(batch)
            runs.append(time.process_time() - began)
    return 1e6 * float(np.median(runs)) / len(batch)


@contextmanager
def one_kernel_thread() -> Iterator[None]:
    """Compiled kernels on one thread, where there are any."""
    if accelerate.kernels("understudy.deform.linear_kernels") is None:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)
