"""Source motions: a motion to transfer, as feature points over time."""

from __future__ import annotations

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
from understudy.errors import InvalidInput
from understudy.formats import conventions
from understudy.maths import quaternion
from understudy.transfer import marker_cloud

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
    seen = marker_cloud.frames_in_view(np.asarray(np.isnan(values).any(axis=2)))
    if (seen.start, seen.stop) != (0, len(clip)):
        notes.append(
            f"frames {seen.start} to {seen.stop - 1} of {len(clip)} were taken, the others show too few markers: "
            f"frame 0 of this motion is frame {seen.start} of the file"
        )
    values = values[seen]
    values = values * (marker_cloud.guess_unit(values, notes) if scale is None else scale)
    names, points = marker_cloud.fill_gaps(names, values, notes)
    fps = clip.rate
    if rate is not None and rate != fps:
        channels = [Channel(name, "marker") for name in names]
        dense = Clip(clip.name, channels, points.reshape(len(points), -1), fps).resample(rate)
        points, fps = dense.values.reshape(len(dense), -1, 3), rate
    frames = marker_cloud.frames_of(names, points, notes)
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
