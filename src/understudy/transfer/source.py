"""Source motions: a motion to transfer, as feature points over time, of a skeleton or of bare markers (C3D).

Bare markers: the unit is guessed, gaps are filled, and a root with front and up is found in the cloud.

Gaps. A marker that is hidden for long does not move on a straight line meanwhile. The other markers predict where it
is: in the frame of the body, the motion of all markers has few principal components [Federolf 2013], and those of the
markers that are always seen predict the others. The prediction is shifted to meet the marker at the two ends of a gap.

Root. Marker sets name their points by custom: LASI, RFWT, C7. Where waist markers are known the root is their middle,
its right-to-left axis theirs; where only sides are known (names that begin with L and R) the whole cloud serves; where
neither is, the heading is the rotation about the vertical that fits the cloud best to its first frame.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy import checks
from understudy.character import Asset, Channel, Character, Clip, Curves, Skeleton
from understudy.character.body import poses
from understudy.character.body.markers import Markers, markers_of
from understudy.character.body.poses import PoseSequence, clip_of, poses_of
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.formats import conventions
from understudy.maths import quaternion, vector

MIN_INSERTED_TURN_RAD = np.radians(15)  # in a frame; joints turn less even in the fastest motion at 60 fps
# From a mouse to a dinosaur: lengths of bodies outside this range are taken to be in another unit.
USUAL_SIZE_RANGE_M = (0.05, 20.0)
UNIT_METRES = {
    "m": 1.0,
    "dm": 0.1,
    "cm": 0.01,
    "mm": 0.001,
    "in": conventions.INCH_METRES,
    "ft": 0.3048,
    "cmu": conventions.CMU_UNIT_METRES,
}
MIN_SEEN_FRAME_RATIO = 0.5  # of the frames: markers seen in fewer are left out
MIN_MARKERS = 3
MOTION_VARIANCE_RATIO = 0.995  # of the variance: components that are motion, the others are noise
USUAL_CLOUD_HEIGHTS_M = (0.3, 4.0)  # least and greatest extent of a cloud in metres
WAIST_MARKER_PATTERN = re.compile(
    r"^[lr]?(asi|asis|psi|psis|fwt|bwt|bwaist|fwaist|sacr|waist|hip|wst|pv|pelvis)", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class SourceMotion:
    """A motion of P feature points. `frames` are the position and heading of the figure in each frame."""

    name: str
    points: Array  # (F, P, 3) world, metres
    frames: Array  # (F, 4, 4) world_from_local
    rate: float  # frames a second
    poses: PoseSequence | None  # None: bare markers (C3D)
    names: tuple[str, ...]  # (P,)
    notes: tuple[str, ...] = ()  # guesses and changes made while reading
    start: float = 0.0  # seconds of the file's own clock at the first frame
    markers: Markers | None = None  # where the points ride on the skeleton
    character: Character | None = None  # the performer, where there is a skeleton

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"SourceMotion({self.name!r}, {len(self)} frames at {self.rate:g} fps, {len(self.names)} points)"

    @cached_property
    def local(self) -> Array:
        """(F, P, 3) the points in the local frame."""
        return checks.freeze(poses.to_local(self.frames, self.points))

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    def rows(self, frames: Sequence[int]) -> SourceMotion:
        """Some frames of the motion, by number."""
        chosen = list(frames)
        poses = None if self.poses is None else self.poses.rows(chosen)
        return replace(self, points=self.points[chosen], frames=self.frames[chosen], poses=poses)

    def frame_at(self, time: float) -> int:
        """The frame nearest to a time of the file's clock, seconds; a time outside the motion is refused."""
        frame = round((time - self.start) * self.rate)
        if not 0 <= frame < len(self):
            end = self.start + self.duration
            raise InvalidInput(
                f"a time of motion {self.name!r} should lie between {self.start:g} and {end:g} s, but is {time:g} s"
            )
        return frame


def source_of(
    asset: Asset,
    clip: str | Clip | Curves | None = None,
    *,
    rate: float | None = None,
    units: str | float | None = None,
    markers: Markers | None = None,
) -> SourceMotion:
    """The motion of an asset: that of its character's skeleton, or that of the markers of a C3D file.

    `units`: metres to a unit of the asset's lengths, or its name (m, cm, mm, in, ft, cmu), where the guess is wrong.
    """
    animation = asset.animation(clip) if clip is None or isinstance(clip, str) else clip
    notes = list(asset.notes)
    if any(channel.kind == "marker" for channel in animation.channels):
        assert isinstance(animation, Clip)  # keyed curves have no markers
        return _source_of_markers(animation, rate, metres_per_unit(units), notes)
    character = asset.character()
    original = poses_of(character, animation)
    poses = _drop_inserted_pose(original, notes)
    if rate is not None and rate != poses.rate:
        poses = poses_of(character, animation if poses is original else clip_of(poses, animation.name), rate)
    scale = metres_per_unit(units) or _guess_skeleton_unit(character.skeleton, notes)
    if scale != 1.0:
        character, poses = _scale_motion(character, poses, scale)
        markers = None
    markers = markers_of(character) if markers is None else markers
    points, frames = markers.positions(poses.world), markers.frames(poses.world)
    return SourceMotion(
        animation.name,
        checks.freeze(points),
        checks.freeze(frames),
        poses.rate,
        poses,
        markers.names,
        tuple(notes),
        animation.start,
        markers,
        character,
    )


def metres_per_unit(units: str | float | None) -> float | None:
    """Metres to a unit given by name or by number; None for None."""
    if isinstance(units, str):
        return UNIT_METRES[checks.one_of(units, "unit", UNIT_METRES)]
    return None if units is None else checks.positive(units, "units (metres to a unit)")


def _source_of_markers(clip: Clip, rate: float | None, scale: float | None, notes: list[str]) -> SourceMotion:
    names = tuple(channel.target for channel in clip.channels if channel.kind == "marker")
    values = clip.values[:, clip.channels.columns_of("marker")].reshape(len(clip), -1, 3)
    seen = frames_in_view(np.asarray(np.isnan(values).any(axis=2)))
    if (seen.start, seen.stop) != (0, len(clip)):
        notes.append(
            f"frames {seen.start} to {seen.stop - 1} of {len(clip)} were taken, the others show too few markers: "
            f"frame 0 of this motion is frame {seen.start} of the file"
        )
    values = values[seen]
    values = values * (guess_unit(values, notes) if scale is None else scale)
    names, points = fill_gaps(names, values, notes)
    fps = clip.rate
    if rate is not None and rate != fps:
        channels = [Channel(name, "marker") for name in names]
        dense = Clip(clip.name, channels, points.reshape(len(points), -1), fps).resample(rate)
        points, fps = dense.values.reshape(len(dense), -1, 3), rate
    frames = marker_frames(names, points, notes)
    start = clip.start + seen.start / clip.rate
    return SourceMotion(clip.name, checks.freeze(points), checks.freeze(frames), fps, None, names, tuple(notes), start)


def _drop_inserted_pose(poses: PoseSequence, notes: list[str]) -> PoseSequence:
    """Replace the first frame by the second, where the first is a T-pose that is no part of the motion (CMU)."""
    if len(poses) < 3:
        return poses
    jump = quaternion.angle_between(poses.rotations[0], poses.rotations[1]).max()
    after = quaternion.angle_between(poses.rotations[1], poses.rotations[2]).max()
    if jump <= max(MIN_INSERTED_TURN_RAD, 5 * after):
        return poses
    notes[:] = [note for note in notes if "an inserted T-pose" not in note]
    notes.append(
        f"frame 0 is {np.degrees(jump):.0f} degrees away from frame 1, an inserted T-pose: frame 1 replaces it"
    )
    return poses.rows([1, *range(1, len(poses))])


def _guess_skeleton_unit(skeleton: Skeleton, notes: list[str]) -> float:
    """Metres to a unit of a skeleton whose reader did not guess: 1 where the size of the body is usual."""
    height = conventions.body_height(skeleton.parents, skeleton.translations, {})
    if USUAL_SIZE_RANGE_M[0] <= height <= USUAL_SIZE_RANGE_M[1] or not height > 0:
        return 1.0
    unit = conventions.unit_of_length(height)
    size = f"about {height:.3g} units, {height * unit.metres:.2f} m tall"
    notes.append(f"lengths were taken to be {unit.name}, from the size of the skeleton ({size})")
    return unit.metres


def _scale_motion(character: Character, poses: PoseSequence, scale: float) -> tuple[Character, PoseSequence]:
    """The motion with all lengths times `scale`, without the mesh, which would no longer fit."""
    old = character.skeleton
    skeleton = Skeleton(old.names, old.parents, old.translations * scale, old.rotations, old.scales)
    bare = Character(character.name, skeleton, bones=character.joints, avatar=character.avatar)
    return bare, PoseSequence(skeleton, poses.translations * scale, poses.rotations, poses.rate)


def guess_unit(points: Array, notes: list[str]) -> float:
    """Metres to a unit of a cloud (F, P, 3): 1 where the cloud has the size of a person."""
    with np.errstate(all="ignore"):
        seen = points[~np.isnan(points).any(axis=(1, 2))]
        seen = points if not len(seen) else seen
        height = float(np.nanmax(np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1), initial=0.0))
    if USUAL_CLOUD_HEIGHTS_M[0] <= height <= USUAL_CLOUD_HEIGHTS_M[1] or not height > 0:
        return 1.0
    unit = conventions.unit_of_length(height)
    notes.append(f"lengths were taken to be {unit.name}: the markers span {height:.3g} units")
    return unit.metres


def frames_in_view(unseen: Array) -> slice:
    """From the first to the last frame in which half of the markers that are ever seen are seen; unseen (F, P)."""
    ever = ~unseen.all(axis=0)
    count = (~unseen[:, ever]).sum(axis=1)
    enough = np.flatnonzero(count >= MIN_SEEN_FRAME_RATIO * max(int(count.max(initial=0)), 1))
    return slice(int(enough[0]), int(enough[-1]) + 1) if enough.size else slice(0, 0)


def fill_gaps(names: tuple[str, ...], points: Array, notes: list[str]) -> tuple[tuple[str, ...], Array]:
    """The markers that are seen often enough, names (P,) and points (F, P, 3), with their gaps filled."""
    unseen = np.asarray(np.isnan(points).any(axis=2))
    kept = unseen.mean(axis=0) <= 1 - MIN_SEEN_FRAME_RATIO
    if kept.sum() < MIN_MARKERS:
        raise InvalidInput(
            f"a motion of markers should have {MIN_MARKERS} that are seen in half of its frames, "
            f"but has {int(kept.sum())}"
        )
    if not kept.all():
        lost = [name for name, keep in zip(names, kept) if not keep]
        notes.append(f"markers seen in less than half of the frames were left out: {join_names(lost)}")
    names = tuple(name for name, keep in zip(names, kept) if keep)
    points, unseen = np.array(points[:, kept]), unseen[:, kept]
    if unseen.any():
        _interpolate_gaps(points, unseen)
        _fill_by_components(points, unseen)
        notes.append(
            f"gaps of {int(unseen.any(axis=0).sum())} markers, the longest of {_longest_gap(unseen)} frames, "
            "were filled from the other markers"
        )
    return names, points


def _interpolate_gaps(points: Array, unseen: Array) -> None:
    """Straight lines over the gaps, constant at the ends, in place."""
    frames = np.arange(len(points))
    for marker in np.flatnonzero(unseen.any(axis=0)):
        seen = ~unseen[:, marker]
        for axis in range(3):
            points[~seen, marker, axis] = np.interp(frames[~seen], frames[seen], points[seen, marker, axis])


def _fill_by_components(points: Array, unseen: Array) -> None:
    """Fill the gaps by the principal components of the steady markers, in the frame of the body, in place."""
    frames = np.arange(len(points))
    always = np.asarray(~unseen.any(axis=0))
    steady = always if always.sum() >= MIN_MARKERS else np.ones(len(always), bool)
    middle, turn = fit_body_heading(points[:, steady])
    local = np.einsum("fji,fpj->fpi", turn, points - middle[:, None])
    for marker in np.flatnonzero(unseen.any(axis=0)):
        gap, seen = unseen[:, marker], ~unseen[:, marker]
        others = steady.copy()
        others[marker] = False
        predicted = _predict_marker(local[:, others].reshape(len(points), -1), local[:, marker], seen)
        predicted = np.einsum("fij,fj->fi", turn, predicted) + middle
        for axis in range(3):
            error = points[seen, marker, axis] - predicted[seen, axis]
            points[gap, marker, axis] = predicted[gap, axis] + np.interp(frames[gap], frames[seen], error)


def _predict_marker(others: Array, marker: Array, seen: Array) -> Array:
    """(F, 3) a marker (F, 3) predicted from the others (F, n), fitted to the frames in which it is seen."""
    mean = others[seen].mean(axis=0)
    _, s, vt = np.linalg.svd(others[seen] - mean, full_matrices=False)
    share = np.cumsum(s**2) / max((s**2).sum(), 1e-300)
    keep = vt[: min(int(np.searchsorted(share, MOTION_VARIANCE_RATIO)) + 1, len(s), int(seen.sum()) // 4 + 1)]
    columns = np.column_stack([np.ones(len(others)), (others - mean) @ keep.T])
    fitted, *_ = np.linalg.lstsq(columns[seen], marker[seen], rcond=1e-6)
    predicted: Array = columns @ fitted
    return predicted


def _longest_gap(unseen: Array) -> int:
    """Length of the longest gap, frames."""
    longest = run = np.zeros(unseen.shape[1], np.int64)
    for row in unseen:
        run = np.where(row, run + 1, 0)
        longest = np.maximum(longest, run)
    return int(longest.max(initial=0))


def marker_frames(names: tuple[str, ...], points: Array, notes: list[str]) -> Array:
    """world_from_local (F, 4, 4) of a cloud without gaps."""
    waist = [i for i, name in enumerate(names) if WAIST_MARKER_PATTERN.match(name)]
    chosen = waist if _side_pairs(names, waist) else list(range(len(names)))
    sides = _side_pairs(names, chosen)
    origins = points[:, chosen].mean(axis=1)
    ups = np.broadcast_to(poses.UP, origins.shape)
    if not sides:
        notes.append("no marker's name tells left from right: the heading is that of the cloud, +Z at the first frame")
        return poses.frames_of(origins, fit_body_heading(points)[1][:, :, 2], ups)
    left, right = (np.array(side) for side in zip(*sides))
    across = (points[:, left] - points[:, right]).mean(axis=1)
    across[:, 1] = 0.0
    return poses.frames_of(origins, np.cross(vector.normalise(across, (1.0, 0.0, 0.0)), poses.UP), ups)


def fit_body_heading(points: Array) -> tuple[Array, Array]:
    """The middle (F, 3) of markers, and the rotation (F, 3, 3) about the vertical that fits the first frame to each."""
    middle = points.mean(axis=1)
    flat = points[..., [0, 2]] - middle[:, None, [0, 2]]
    cross = np.einsum("p,fp->f", flat[0, :, 1], flat[..., 0]) - np.einsum("p,fp->f", flat[0, :, 0], flat[..., 1])
    angle = np.arctan2(cross, np.einsum("pi,fpi->f", flat[0], flat))
    turn = np.zeros((len(points), 3, 3))
    turn[:, 0, 0] = turn[:, 2, 2] = np.cos(angle)
    turn[:, 0, 2] = np.sin(angle)
    turn[:, 2, 0] = -np.sin(angle)
    turn[:, 1, 1] = 1.0
    return middle, turn


def _side_pairs(names: tuple[str, ...], among: list[int]) -> list[tuple[int, int]]:
    """Pairs (left, right) of markers, by name."""
    by_name = {names[i].lower(): i for i in among}
    sides = []
    for name, left in by_name.items():
        for pattern, other in ((r"^l(?=[a-z])", "r"), ("left", "right"), (r"_l$", "_r"), (r"\.l$", ".r")):
            right = by_name.get(re.sub(pattern, other, name, count=1))
            if right is not None and right != left:
                sides.append((left, right))
                break
    return sides
