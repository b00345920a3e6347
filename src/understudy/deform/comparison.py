"""Comparison: every method fitted to the same training poses and measured on the same held-out ones.

Whole clips are held out where the examples come from clips: neighbouring frames are nearly the same pose, so that poses
held out between them say how well a method interpolates, not how it plays a new clip. The first row is doing nothing:
linear blending with the weights that the character has, or automatic ones. A method that is worse is marked.

rms, worst    distance of vertices to where they should be, metres; percentiles over all vertices and poses
train         rms on the poses that the method was fitted to
jitter        root mean square of the error's second difference from frame to frame, metres; only of clips
volume        share of the true volume that is missing (or, negative, too much), mean and worst over the poses
stretch       root mean square of |e| / |e_true| - 1 over the edges of all poses
bytes         run-time data a vertex; seconds to fit; microseconds a frame
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.deform import deformer as deformers
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.deform.fitting.simplex import bone_distances
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.rigging import automatic_weights
from understudy.errors import InvalidInput, UnderstudyError
from understudy.maths import jit, vector
from understudy.maths.jit import one_blas_thread

MIN_TIMING_SECONDS = 0.05  # processor time of all runs that time a frame

# Of the cube of the size: less is a sheet; a needle a hundred times as long as wide has 1e-4.
MIN_VOLUME_RATIO = 1e-5
MIN_RUNS, MAX_RUNS = 3, 20  # runs that time a frame
FRAMES_PER_BATCH = 64  # a block of the kernels of linear blending
HELD_OUT_RATIO = 0.25  # of the poses
NOTHING = "doing nothing"  # linear blending with the examples' own weights, or automatic ones
# Worse than doing nothing on clips that they were not fitted to; compared only when they are named.
METHODS_ON_REQUEST = ("shape-by-example", "blend-shapes", "rotational-regression", "deformation-styles")
CompareProgress = Callable[[str, int, int], None]  # called with the method at work, how many are done, and all


@dataclass(frozen=True, eq=False)
class Measures:
    """The figures of one method over P poses."""

    rms: float  # metres
    worst: float  # metres
    percentiles: tuple[float, float, float]  # metres: the median, 95th and 99th of all vertices and poses
    train_rms: float  # metres, on the poses of the fit
    jitter: float  # metres; not a number where the poses are no clip
    size: float  # metres, the diagonal of the mesh: the unit of percentages
    volume_loss: float  # share, mean over the poses
    worst_volume_loss: float  # share, the largest in size, with its sign
    edge_stretch: float  # share
    bytes_a_vertex: float
    fit_seconds: float
    frame_microseconds: float
    pose_rms: Array  # (P,) metres
    joint_rms: Array  # (B,) metres, over the vertices that a joint moves most; not a number where it moves none
    worst_pose: int
    worst_vertex: int


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method: its figures, or the problem that prevented them."""

    method: str
    paper: str
    gltf: bool
    measures: Measures | None
    deformer: Deformer | None = None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results in the order of the registry, and the poses that they were fitted to and measured on."""

    entries: tuple[MethodResult, ...]
    trained: Examples
    held: Examples
    held_numbers: Array  # (P,) indexes of the poses held out

    @property
    def valid_results(self) -> tuple[MethodResult, ...]:
        """The entries with figures."""
        return tuple(entry for entry in self.entries if entry.measures is not None)

    @property
    def nothing(self) -> float:
        """The rms error, in metres, of doing nothing; infinite where that failed."""
        measures = self.entries[0].measures if self.entries and self.entries[0].method == NOTHING else None
        return float("inf") if measures is None else measures.rms

    def rows(self) -> list[dict[str, Any]]:
        """The figures of each method under plain names, for JSON and tables; `worse` than doing nothing or not."""
        rows = [result_row(entry) for entry in self.entries]
        return [row if "problem" in row else row | {"worse": row["rms_mm"] > 1000 * self.nothing} for row in rows]

    def table(self) -> str:
        """The figures as lines of text: errors in millimetres, volume and stretch in percent, a method a line."""
        return "\n".join(_table_lines(self.rows()))


def compare_skins(
    examples: Examples,
    methods: Iterable[str] = (),
    held_out: float = HELD_OUT_RATIO,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    report: CompareProgress | None = None,
    by: str = "clip",
) -> Comparison:
    """Fit several methods to some examples and measure each on the others, beside doing nothing.

    Args:
        examples: Poses of a skeleton and the mesh in each of them.
        methods: Names of the methods, as in `Skin.methods()`; none: all that are not worse than doing nothing on new
            clips.
        held_out: Share of the examples that is kept for measuring, between 0 and 1.
        seed: Seed of methods that use chance.
        settings: Settings of a method by its name.
        report: Called with the method at work, the methods done and their number.
        by: What is held out: whole clips (`"clip"`), or poses between the others (`"pose"`). Examples that are no clips
            are split by pose.

    Returns:
        The figures of each method, doing nothing first; `table()` gives them as text. A method that cannot be fitted
        says why.

    Raises:
        InvalidInput: If a method is unknown, or there are fewer than two examples.

    Example:
        >>> comparison = us.compare_skins(us.Examples.read("cylinder"), ["linear", "dual"])
        >>> [(entry.method, entry.measures.rms < 0.0103) for entry in comparison.entries]
        [('doing nothing', False), ('linear', True), ('dual', True)]
    """
    chosen = [checks.one_of(name, "deformer", deformers.METHODS) for name in methods]
    chosen = chosen or [name for name in deformers.METHODS if name not in METHODS_ON_REQUEST]
    checks.one_of(by, "way to hold out", ("clip", "pose"))
    in_clips = by == "clip" and len(set(examples.clips)) > 1
    numbers = hold_out_clips(examples.clips, held_out) if in_clips else hold_out_indices(len(examples), held_out)
    trained, held = examples.split(numbers)
    entries = [_evaluate(NOTHING, "", trained, held, lambda: plain_skin(trained))]
    for done, name in enumerate(dict.fromkeys(chosen)):
        if report:
            report(name, done, len(chosen))
        entries.append(_evaluate_method(name, trained, held, seed, (settings or {}).get(name)))
    return Comparison(tuple(entries), trained, held, checks.freeze(numbers))


def hold_out_indices(count: int, share: float = HELD_OUT_RATIO) -> Array:
    """Indexes of the poses to hold out: evenly spread between others, never the first, at least one of two."""
    if count < 2:
        raise InvalidInput(f"a comparison needs 2 poses or more, one of them to be held out, but there is {count}")
    if not 0 < share < 1:
        raise InvalidInput(f"the share of poses held out should lie between 0 and 1, but is {share}")
    wanted = min(max(round(share * count), 1), count - 1)
    return 1 + np.floor((np.arange(wanted) + 0.5) * (count - 1) / wanted).astype(int)


def hold_out_clips(clips: Sequence[str], share: float = HELD_OUT_RATIO) -> Array:
    """Indexes of the poses of whole clips, evenly spread among the clips, never the first clip; at least one clip.

    The share is one of clips, which have different lengths.
    """
    names = list(dict.fromkeys(clips))
    chosen = {names[number] for number in hold_out_indices(len(names), share)}
    return np.flatnonzero([name in chosen for name in clips])


def plain_skin(examples: Examples) -> LinearSkin:
    """What a character does before anything is fitted: linear blending with its weights, or automatic ones."""
    if examples.weights is not None:
        return LinearSkin.from_artist_weights(examples)
    found = automatic_weights(
        examples.rest, examples.triangles, examples.rest_transforms, examples.parents, examples.names
    )
    weights = found.weights.astype(np.float32)
    return LinearSkin(examples.rest.astype(np.float32), examples.inverse_binds, found.joints.astype(np.int32), weights)


def _evaluate_method(name: str, trained: Examples, held: Examples, seed: int, settings: Any) -> MethodResult:
    kind = deformers.method_class(name)
    return _evaluate(name, kind.paper, trained, held, lambda: kind.fit(trained, settings, seed))


def _evaluate(name: str, paper: str, trained: Examples, held: Examples, fit: Callable[[], Deformer]) -> MethodResult:
    began = time.process_time()
    try:
        deformer = fit()
        seconds = time.process_time() - began
        measures = measure(deformer, held, seconds, trained)
    except (UnderstudyError, np.linalg.LinAlgError, MemoryError) as error:
        problem = str(error) or type(error).__name__
        return MethodResult(name, paper, False, None, None, problem)
    if not np.isfinite(measures.rms):
        return MethodResult(name, paper, bool(deformer.gltf), None, deformer, "its vertices are not finite")
    return MethodResult(name, paper, bool(deformer.gltf), measures, deformer)


def result_row(entry: MethodResult) -> dict[str, Any]:
    """The figures of an entry under plain names, for JSON and tables."""
    row: dict[str, Any] = {"method": entry.method, "paper": entry.paper, "gltf": entry.gltf}
    m = entry.measures
    if m is None:
        return row | {"problem": entry.problem}
    return row | {
        "rms_mm": 1000 * m.rms,
        "rms_percent": 100 * m.rms / m.size,
        "train_rms_mm": 1000 * m.train_rms,
        "p50_mm": 1000 * m.percentiles[0],
        "p95_mm": 1000 * m.percentiles[1],
        "p99_mm": 1000 * m.percentiles[2],
        "jitter_mm": 1000 * m.jitter if np.isfinite(m.jitter) else None,
        "joint_rms_mm": [1000 * float(value) if np.isfinite(value) else None for value in m.joint_rms],
        "worst_mm": 1000 * m.worst,
        "worst_percent": 100 * m.worst / m.size,
        "volume_loss_percent": 100 * m.volume_loss,
        "worst_volume_loss_percent": 100 * m.worst_volume_loss,
        "edge_stretch_percent": 100 * m.edge_stretch,
        "bytes_a_vertex": m.bytes_a_vertex,
        "fit_seconds": m.fit_seconds,
        "frame_microseconds": m.frame_microseconds,
    }


def _table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    columns = {
        "rms mm": "rms_mm",
        "fitted mm": "train_rms_mm",
        "95 % mm": "p95_mm",
        "worst mm": "worst_mm",
        "jitter mm": "jitter_mm",
        "volume %": "volume_loss_percent",
        "stretch %": "edge_stretch_percent",
        "bytes": "bytes_a_vertex",
        "fit s": "fit_seconds",
        "us/frame": "frame_microseconds",
    }
    yield f"{'method':<22}" + "".join(f"{name:>11}" for name in columns)
    for row in rows:
        if "problem" in row:
            yield f"{row['method']:<22} {row['problem']}"
            continue
        cells = ("-" if row[key] is None else f"{row[key]:.4g}" for key in columns.values())
        yield f"{row['method']:<22}" + "".join(f"{cell:>11}" for cell in cells) + "  worse than nothing" * row["worse"]


def measure(deformer: Deformer, held: Examples, fit_seconds: float, trained: Examples | None = None) -> Measures:
    """The figures of a fitted deformer on poses that it has not seen, and its error on those that it was fitted to."""
    deformed = deformer.deform(held.transforms)
    seen = held if trained is None else trained
    train = vector.length(deformer.deform(seen.transforms) - seen.vertices)
    distance = vector.length(deformed - held.vertices)
    pose_rms = np.sqrt((distance**2).mean(axis=1))
    loss = volume_loss(deformed, held.vertices, held.triangles)
    pose, vertex = np.unravel_index(int(distance.argmax()), distance.shape)
    return Measures(
        rms=float(np.sqrt((distance**2).mean())),
        worst=float(distance.max()),
        percentiles=tuple(np.percentile(distance, (50, 95, 99)).tolist()),
        train_rms=float(np.sqrt((train**2).mean())),
        jitter=jitter(deformed - held.vertices, held.clips),
        size=held.size,
        volume_loss=float(loss.mean()),
        worst_volume_loss=float(loss[np.abs(loss).argmax()]),
        edge_stretch=edge_stretch(deformed, held.vertices, held.triangles),
        bytes_a_vertex=float(deformer.bytes_a_vertex),
        fit_seconds=fit_seconds,
        frame_microseconds=speed(deformer, held.transforms),
        pose_rms=pose_rms,
        joint_rms=joint_errors(distance, held),
        worst_pose=int(pose),
        worst_vertex=int(vertex),
    )


def jitter(error: Array, clips: Sequence[str]) -> float:
    """Root mean square of e(f - 1) - 2 e(f) + e(f + 1) over frames of one clip of errors (F, V, 3), in metres."""
    if len(clips) < 3:
        return float("nan")
    names = np.array(clips)
    inside = (names[:-2] == names[1:-1]) & (names[1:-1] == names[2:])
    if not inside.any():
        return float("nan")
    second = (error[:-2] - 2 * error[1:-1] + error[2:])[inside]
    return float(np.sqrt((second**2).sum(axis=-1).mean()))


def joint_errors(distance: Array, examples: Examples) -> Array:
    """(B,) root mean square of distances (P, V) over the vertices nearest to each joint's bones, in metres."""
    if examples.weights is not None and examples.joints is not None:
        rows = np.arange(len(examples.rest))
        owner = examples.joints[rows, examples.weights.argmax(axis=1)]
    else:
        owner = bone_distances(examples).argmin(axis=1)
    count = len(examples.inverse_binds)
    total = np.bincount(owner, (distance**2).mean(axis=0), count)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(total / np.bincount(owner, minlength=count))


def volumes(vertices: Array, triangles: Array) -> Array:
    """(F,) the volume inside meshes (F, V, 3): the sum of det(a, b, c) / 6 from the middle of each mesh.

    A mesh with holes has no volume; the cones from the middle close it, in the same way for two similar meshes.
    """
    points = np.asarray(vertices, float)
    points = points - points.mean(axis=1, keepdims=True)
    a, b, c = (points[:, triangles[:, i]] for i in range(3))
    return np.asarray(vector.dot(a, vector.cross(b, c)).sum(axis=1) / 6)


def volume_loss(found: Array, truth: Array, triangles: Array) -> Array:
    """(F,) the share of the true volume that is missing in each pose; 0 where the true mesh has none."""
    if not len(triangles):
        return np.zeros(len(truth))
    wanted = volumes(truth, triangles)
    size = vector.length(np.ptp(truth, axis=1))
    empty = np.abs(wanted) <= MIN_VOLUME_RATIO * size**3
    return np.where(empty, 0.0, 1 - volumes(found, triangles) / np.where(empty, 1.0, wanted))


def edge_stretch(found: Array, truth: Array, triangles: Array) -> float:
    """Root mean square of the relative change of the edges' lengths, found against true."""
    edges = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), 1), axis=0
    )
    if not len(edges):
        return 0.0
    wanted = vector.length(truth[:, edges[:, 0]] - truth[:, edges[:, 1]])
    lengths = vector.length(found[:, edges[:, 0]] - found[:, edges[:, 1]])
    sound = wanted > 1e-9 * wanted.max(initial=0.0)
    return float(np.sqrt(np.mean((lengths[sound] / wanted[sound] - 1) ** 2))) if sound.any() else 0.0


def speed(deformer: Deformer, transforms: Array) -> float:
    """Microseconds a frame on one core, in a batch; the median of several runs after one that compiles the code."""
    batch = np.tile(transforms, (-(-FRAMES_PER_BATCH // len(transforms)), 1, 1, 1))[:FRAMES_PER_BATCH]
    runs: list[float] = []
    with one_blas_thread(), jit.one_kernel_thread():
        deformer.deform(batch)
        while len(runs) < MIN_RUNS or (sum(runs) < MIN_TIMING_SECONDS and len(runs) < MAX_RUNS):
            began = time.process_time()
            deformer.deform(batch)
            runs.append(time.process_time() - began)
    return 1e6 * float(np.median(runs)) / len(batch)
