"""Filters of landmarks: jitter, the head's motion, the person's proportions, and fewer landmarks.

Jitter. Single frames that jump are replaced by the median about them (Hampel), and what trembles is smoothed without
delay (Savitzky-Golay).

Procrustes alignment in two stages, first the head's own motion, then the person's proportions:

    min over s, R, t of  sum_i |s R a_i + t - b_i|^2        R a rotation, no mirror; s = 1 where it is rigid

[Serra 2018, section 4] aligns every pose with the first of its sequence by landmarks that no expression moves, and then
each region of the first pose with the average neutral, the same transform for all poses of the sequence.

Proportions. How large the regions of one face are beside those of another, so that a shut eye stays a shut eye. A
person's eye opens by 10 mm, a stylised character's by 25: moved by the same millimetres, the character would never
blink. Each eye is compared across and up, since its opening is what a lid can move; other regions by their size.

Reduction. The landmarks that tell expressions apart; the others follow from them by a linear map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.express.sequence import ExpressionSequence, check_alike, landmark_number, regions_of

# Seconds of the smoothing window: five frames at 30 a second. A blink takes 0.3 s, and keeps nine tenths of its depth.
SMOOTHING_SECONDS = 0.17
POLYNOMIAL_ORDER = 2  # of the smoothing polynomial: with 2 a peak keeps its height
MEDIAN_NEIGHBOUR_FRAMES = 2  # frames on each side of a frame in the median that it is compared with
SPIKE_DEVIATIONS = 6.0  # difference from that median in standard deviations; 3 would remove quick but real frames
SPIKE_STEP_RATIO = 2.0  # steps of a jump over the steps beside it, at least
MIN_SPIKE_RATIO = 0.02  # of the curve's range: less is no jump, however still the rest is

# Bridge and tip of the nose, and the corners of the eyes: what an expression moves least.
ANCHORS = ("lm27", "lm28", "lm29", "lm30", "lm33", "lm36", "lm39", "lm42", "lm45")

# A region of one or two landmarks, or on a line, leaves a rotation open: this share of the sum pulls towards none.
# Anchors are seldom so; for them it only decides between rotations that are equally good.
ROTATION_REGULARISATION = 1e-3
ANCHOR_REGULARISATION = 1e-9

# Rounds of aligning with the mean and averaging again; the mean moves by less than 1e-6 of its size after three.
MEAN_SHAPE_ITERATIONS = 5

# Of the 68, in mirrored pairs: ends and middles of brows, corners and lids of eyes, tip and wings of the nose, the
# outline of the lips with the middles of their inner edges, and jaw and chin.
REDUCED_LANDMARKS = tuple(
    f"lm{number:02d}"
    for number in (
        *(2, 5, 8, 11, 14),
        *(17, 19, 21, 22, 24, 26),
        *(30, 31, 33, 35),
        *(36, 37, 39, 41, 42, 44, 45, 46),
        *(48, 50, 51, 52, 54, 56, 57, 58, 62, 66),
    )
)
SCALE_RATIO_LIMITS = (0.4, 2.5)  # size of one face over the other; outside of it the landmarks are wrong


def filter_jitter(sequence: ExpressionSequence, window: float = SMOOTHING_SECONDS) -> ExpressionSequence:
    """The sequence without jumps of single frames and, with `window` seconds above 0, smoothed by Savitzky-Golay.

    Every curve stays within its own range.
    """
    if not np.isfinite(window) or window < 0:
        raise InvalidInput(f"the window of the jitter filter should be 0 seconds or more, but is {window}")
    curves = sequence.points.reshape(len(sequence), -1)  # (F, L D)
    steady, count = remove_spikes(curves)
    smooth = savitzky_golay(steady, round(window * sequence.rate))
    smooth = np.clip(smooth, steady.min(axis=0), steady.max(axis=0))
    notes = sequence.notes
    if count:
        jumps = f"{count} jump{'s' if count > 1 else ''} of single frames"
        notes = (*notes, f"sequence {sequence.name!r} had {jumps}, which were put back")
    return sequence.with_fields(points=smooth.reshape(sequence.points.shape), notes=notes)


def remove_spikes(curves: Array) -> tuple[Array, int]:
    """(F, C) curves with outliers replaced by the median about them, and how many there were (Hampel's filter).

    The spread of a curve's differences from their medians is taken as 1.4826 times their own median, which outliers do
    not move. The first and the last frames, with neighbours on one side only, stay.
    """
    frames = len(curves)
    if frames < 2 * MEDIAN_NEIGHBOUR_FRAMES + 1:
        return curves.copy(), 0
    windows = np.lib.stride_tricks.sliding_window_view(curves, 2 * MEDIAN_NEIGHBOUR_FRAMES + 1, axis=0)
    middle = np.median(windows, axis=-1)  # (F - 4, C)
    inner = curves[MEDIAN_NEIGHBOUR_FRAMES : frames - MEDIAN_NEIGHBOUR_FRAMES]
    away = np.abs(inner - middle)
    spread = 1.4826 * np.median(away, axis=0)
    spike = away > np.maximum(SPIKE_DEVIATIONS * spread, MIN_SPIKE_RATIO * np.ptp(curves, axis=0))
    # a jump goes out and back in steps that nothing beside it has; a quick peak rises and falls in the frames about
    steps = np.diff(curves, axis=0)
    out, back = (
        steps[MEDIAN_NEIGHBOUR_FRAMES - 1 : -MEDIAN_NEIGHBOUR_FRAMES],
        steps[MEDIAN_NEIGHBOUR_FRAMES : frames - MEDIAN_NEIGHBOUR_FRAMES],
    )
    beside = np.maximum(
        np.abs(steps[MEDIAN_NEIGHBOUR_FRAMES - 2 : -MEDIAN_NEIGHBOUR_FRAMES - 1]),
        np.abs(steps[MEDIAN_NEIGHBOUR_FRAMES + 1 :][: len(inner)]),
    )
    spike &= (out * back < 0) & (np.minimum(np.abs(out), np.abs(back)) > SPIKE_STEP_RATIO * beside)
    result = curves.copy()
    result[MEDIAN_NEIGHBOUR_FRAMES : frames - MEDIAN_NEIGHBOUR_FRAMES][spike] = middle[spike]
    return result, int(spike.any(axis=1).sum())


def savitzky_golay(curves: Array, window: int, order: int = POLYNOMIAL_ORDER) -> Array:
    """(F, C) each value replaced by that of the polynomial nearest to the `window` frames about it.

    The window is made odd; one that a polynomial passes through exactly, or longer than the curve, changes nothing or
    is cut. At the ends the polynomial of the first or last whole window is followed.
    """
    window = min(window | 1, len(curves) - (len(curves) + 1) % 2)
    if window <= order:
        return curves.copy()
    from scipy.signal import savgol_filter

    return np.asarray(savgol_filter(curves, window, order, axis=0, mode="interp"))


def remove_head_motion(
    sequence: ExpressionSequence, anchors: Sequence[str] | None = None, scaled: bool | None = None
) -> ExpressionSequence:
    """Every pose rigidly aligned with the first by its `anchors`, so that only the expression is left.

    In a picture (D = 2) a head that comes nearer grows, so there the size is aligned too, unless `scaled` is given.
    Weights (D = 1) have no head to remove.
    """
    if sequence.dimensions == 1:
        return sequence
    rows = _anchor_rows(sequence, anchors)
    scaled = sequence.dimensions == 2 if scaled is None else scaled
    onto = sequence.points[0, rows]
    transforms = procrustes_transforms(sequence.points[:, rows], onto, scaled, ANCHOR_REGULARISATION)
    return sequence.with_fields(points=apply_transform(sequence.points, *transforms))


def _anchor_rows(sequence: ExpressionSequence, anchors: Sequence[str] | None) -> list[int]:
    what = f"sequence {sequence.name!r}"
    given = ANCHORS if anchors is None else tuple(anchors)
    rows = [sequence.names.index(name) for name in given if name in sequence.names]
    missing = [name for name in given if name not in sequence.names]
    if anchors is not None and missing:
        raise InvalidInput(f"{what} lacks the anchors {join_names(missing)}; there are {join_names(sequence.names)}")
    if len(rows) < min(sequence.dimensions, 2):
        raise InvalidInput(
            f"{what} has none of the landmarks that hold still ({join_names(ANCHORS)}): "
            "name some as anchors, or do not align"
        )
    return rows


def match_proportions(
    sequences: Sequence[ExpressionSequence], groups: Mapping[str, Array] | None = None
) -> list[ExpressionSequence]:
    """Each region of each sequence aligned as its first pose is with the average first pose, size included.

    `groups` are those of `alignment_groups` unless given; landmarks in none of them follow the whole face.
    """
    sequences = check_alike(sequences)
    if sequences[0].dimensions == 1:
        return sequences
    groups = alignment_groups(sequences[0].names) if groups is None else groups
    firsts = np.stack([sequence.points[0] for sequence in sequences])
    mean = mean_shape(firsts)
    whole = procrustes_transforms(firsts, mean, scaled=True)
    laid = apply_transform(firsts, *whole)
    parts = [
        (
            rows,
            procrustes_transforms(laid[:, rows], mean[rows], scaled=len(rows) > 1, restraint=ROTATION_REGULARISATION),
        )
        for rows in groups.values()
    ]
    result = []
    for number, sequence in enumerate(sequences):
        points = apply_transform(sequence.points, *(part[number] for part in whole))
        for rows, transform in parts:
            points[:, rows] = apply_transform(points[:, rows], *(part[number] for part in transform))
        result.append(sequence.with_fields(points=points))
    return result


def alignment_groups(names: Sequence[str], wanted: Mapping[str, Sequence[str]] | None = None) -> dict[str, Array]:
    """The regions of the face, each eye by itself: which landmarks are aligned together [Serra 2018, fig. 3]."""
    groups = regions_of(names, wanted)
    if wanted is not None or "eyes" not in groups:
        return groups
    eyes = groups.pop("eyes")
    for side, first in (("eye_right", 36), ("eye_left", 42)):
        rows = [row for row in eyes if first <= (landmark_number(names[row]) or 0) < first + 6]
        if rows:
            groups[side] = np.array(rows)
    return groups


def mean_shape(shapes: Array) -> Array:
    """(L, D) the mean of shapes (N, L, D) after each was laid onto it, size included; at their mean position and size.

    It is oriented as the first shape is; the order of the shapes decides nothing else.
    """
    centred = shapes - shapes.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=(1, 2))
    if sizes.min() <= 0:
        raise InvalidInput("the landmarks of a first pose should not all lie in one place, but do")
    mean = centred[0] / sizes[0]
    for _ in range(MEAN_SHAPE_ITERATIONS):
        laid = apply_transform(
            centred / sizes[:, None, None], *procrustes_transforms(centred / sizes[:, None, None], mean)
        )
        # laid back onto the first, or the mean would rotate a little every round
        mean = laid.mean(axis=0)
        mean = apply_transform(mean, *procrustes_transforms(mean, centred[0] / sizes[0]))
        mean /= np.linalg.norm(mean - mean.mean(axis=0))
    return mean * sizes.mean() + shapes.mean(axis=(0, 1))


def procrustes_transforms(
    points: Array, onto: Array, scaled: bool = False, restraint: float = 0.0
) -> tuple[Array, Array, Array]:
    """s (...,), R (..., D, D) and t (..., D) that lay points (..., L, D) onto (L, D) by least squares.

    R maximises trace(R M) with M = sum a_i b_i' about the means; `restraint` adds so much of M's size times identity.
    """
    a_mean, b_mean = points.mean(axis=-2), onto.mean(axis=-2)
    a, b = points - a_mean[..., None, :], onto - b_mean
    m = np.einsum("...li,lj->...ij", a, b)
    size = np.linalg.norm(m, axis=(-2, -1))
    m = m + (restraint * size)[..., None, None] * np.eye(m.shape[-1])
    u, _, vt = np.linalg.svd(m)
    handed = np.ones(m.shape[:-1])
    handed[..., -1] = np.sign(np.linalg.det(u) * np.linalg.det(vt))  # the least axis turns, so that nothing is mirrored
    rotation = np.einsum("...ki,...k,...jk->...ij", vt, handed, u)
    scale = np.ones(m.shape[:-2])
    if scaled:
        along = np.einsum("...ij,...lj,li->...", rotation, a, b)
        spread = np.einsum("...li,...li->...", a, a)
        scale = np.where(spread > 0, along / np.where(spread > 0, spread, 1), 1.0)
    shift = b_mean - scale[..., None] * np.einsum("...ij,...j->...i", rotation, a_mean)
    return scale, rotation, shift


def apply_transform(points: Array, scale: Array, rotation: Array, shift: Array) -> Array:
    """s R p + t of points (..., L, D)."""
    turned = np.einsum("...ij,...lj->...li", rotation, points)
    return scale[..., None, None] * turned + shift[..., None, :]


def proportions(target: Array, source: Array, names: Sequence[str]) -> Array:
    """(L, D) factors that turn a movement of the landmarks `source` (L, D) into one of the landmarks `target` (L, D).

    Both are neutral and aligned. Factors are 1 where names are other than "lm00" to "lm67".
    """
    result = np.ones(target.shape)
    if any(landmark_number(name) is None for name in names):
        return result
    for group, rows in alignment_groups(tuple(names)).items():
        if len(rows) < 2:
            continue
        ours, theirs = _standard_deviations(target[rows]), _standard_deviations(source[rows])
        if group.startswith("eye_"):
            # depth hardly differs within an eye, so it is left alone
            ratio = np.ones(target.shape[1])
            ratio[:2] = _ratio(ours[:2], theirs[:2])
        else:
            ratio = np.full(target.shape[1], _ratio(np.hypot.reduce(ours), np.hypot.reduce(theirs)))
        result[rows] = ratio
    return result


def _standard_deviations(points: Array) -> Array:
    """(D,) standard deviations."""
    return np.asarray(points.std(axis=0))


def _ratio(ours: Array, theirs: Array) -> Array:
    return np.clip(ours / np.maximum(theirs, 1e-12), *SCALE_RATIO_LIMITS)


def reduce_landmarks(
    sequences: Sequence[ExpressionSequence], kept: int | Sequence[str] | None = None
) -> list[ExpressionSequence]:
    """The sequences with the landmarks `kept` only: names, or a number of them that `choose_landmarks` picks.

    By default those of `REDUCED_LANDMARKS` that the sequences have.
    """
    sequences = check_alike(sequences)
    names = sequences[0].names
    if isinstance(kept, int):
        kept = choose_landmarks(sequences, kept)
    elif kept is None:
        kept = [name for name in REDUCED_LANDMARKS if name in names]
        if not kept:
            raise InvalidInput(
                "the sequences have no landmarks from 'lm00' to 'lm67': say which ones, or how many, to keep"
            )
    for name in kept:
        checks.one_of(name, "landmark", names)
    wanted = set(checks.unique_names(kept, "landmarks to keep"))
    rows = [row for row, name in enumerate(names) if name in wanted]
    if not rows:
        raise InvalidInput("at least one landmark should be kept, but none is named")
    return [
        sequence.with_fields(points=sequence.points[:, rows], names=[names[row] for row in rows])
        for sequence in sequences
    ]


def choose_landmarks(sequences: Sequence[ExpressionSequence], count: int) -> list[str]:
    """The names of `count` landmarks from whose displacements the others follow best by a linear map.

    One after the other, the landmark that leaves the least of the variation of all unexplained: pivoted Cholesky of
    the covariance between landmarks, C = sum over frames and axes of d d', with the best pivot for the whole.
    """
    sequences = check_alike(sequences)
    names = sequences[0].names
    if not 1 <= count <= len(names):
        raise InvalidInput(f"the number of landmarks to keep should lie between 1 and {len(names)}, but is {count}")
    moves = np.concatenate(
        [sequence.displacements.transpose(0, 2, 1).reshape(-1, len(names)) for sequence in sequences]
    )
    left = moves.T @ moves  # (L, L) covariance that is not explained yet
    floor = 1e-12 * max(float(np.trace(left)), 1e-300)
    chosen: list[int] = []
    for _ in range(count):
        variance = np.diag(left)
        explained = np.where(variance > floor, (left**2).sum(axis=0) / np.maximum(variance, floor), 0.0)
        explained[chosen] = -1
        best = int(np.argmax(explained))
        chosen.append(best)
        if variance[best] > floor:
            left = left - np.outer(left[best], left[best]) / variance[best]
    return [names[row] for row in sorted(chosen)]
