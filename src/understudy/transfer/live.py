"""Live transfer: the actor's points in, the character's pose out, causal and a frame at a time.

Nothing here can look ahead, so the steps are those of a transfer without physics: the one euro filter on the points
[Casiez 2012], the mapping, the joints solved from the pose before, and the path over the floor, which is the actor's
times the ratio of sizes. The filter's cutoff rises with speed,

    f_c = f_min + beta |x'|

so that still poses do not tremble and quick ones do not lag. The state that changes from frame to frame is passed in
and returned: a recorded take replays exactly.

Input is text, a line a frame: a BVH file while it is being written, or markers as JSON.

    HIERARCHY ... MOTION, Frames: 0, Frame Time: 0.00833    then a line of numbers for every frame
    {"markers": ["LASI", "RASI", ...], "units": "mm"}       then {"time": 0.1, "points": [[x, y, z], ...]} for every one

Any program that prints lines can drive a character, through a pipe or a socket. A marker that is not seen is null, and
keeps its last position. Times may be left out: frames then come at the BVH's rate, or 120 a second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from understudy import checks
from understudy.character import Asset
from understudy.character.body.ik import solve_ik
from understudy.character.body.joint_limits import DegreesOfFreedom, degrees_of_freedom
from understudy.character.body.markers import Markers, markers_of
from understudy.character.body.poses import PoseSequence, poses_of
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.formats import bvh
from understudy.formats.bvh import BvhText, parse
from understudy.maths import quaternion
from understudy.transfer.actor import Actor, LiveActor
from understudy.transfer.bone_map import bone_map
from understudy.transfer.mapping import SharedMapping
from understudy.transfer.physics.spring_limbs import start_poses
from understudy.transfer.pipeline import TransferTarget
from understudy.transfer.source import UNIT_METRES, marker_frames

MIN_CUTOFF_HZ = 6.0  # f_min: a lag of 27 ms where nothing moves, which is not visible
CUTOFF_HZ_PER_M_S = 4.0  # beta: at 2 m/s a lag of 11 ms
SPEED_CUTOFF_HZ = 3.0  # cutoff of the filter of the speed
LIVE_CONTINUITY_COST = 30.0  # of a squared step of the latent point: a tenth of a transfer's, because it adds lag
MAX_PAUSE_SECONDS = 0.25  # after a longer pause the filter restarts
INPUT_NAME = "live input"  # in messages, in place of a file
MAX_HEADER_LINES = 10_000
DEFAULT_RATE_FPS = 120.0  # where neither the header nor the frames give times


@dataclass(frozen=True, eq=False)
class LiveState:
    """The state of a live transfer after a frame."""

    time: float = -np.inf  # seconds, of the last frame
    points: Array | None = None  # (P, 3) filtered, local
    speeds: Array | None = None  # (P, 3) metres a second
    origin: Array | None = None  # (3,) where the actor began, on the floor
    poses: PoseSequence | None = None  # the last pose, over the origin
    latent: Array | None = None  # (d,) latent point of the last pose, where the mapping has one
    frame: int = 0


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """One frame of the actor."""

    time: float  # seconds
    points: Array  # (P, 3) world, metres
    frame: Array  # (4, 4) world_from_local


@dataclass(frozen=True, eq=False)
class LiveRetargeter:
    """A character that follows an actor live. `size` is how far it moves for a metre of the actor."""

    stage: TransferTarget
    size: float
    degrees: DegreesOfFreedom
    slowest: float = MIN_CUTOFF_HZ
    eagerness: float = CUTOFF_HZ_PER_M_S

    @classmethod
    def from_target(
        cls, stage: TransferTarget, slowest: float = MIN_CUTOFF_HZ, eagerness: float = CUTOFF_HZ_PER_M_S
    ) -> LiveRetargeter:
        """For a prepared character; `size` is the ratio of the heights in the pairs."""
        source = float(np.ptp(stage.pairs.source[..., 1]))
        degrees = degrees_of_freedom(stage.target.skeleton, stage.freedom, stage.limits)
        return cls(stage, stage.height / source if source > 0 else 1.0, degrees, slowest, eagerness)

    def init(self) -> LiveState:
        """The state before the first frame."""
        return LiveState()

    def step(self, state: LiveState, time: float, points: Array, frame: Array) -> tuple[LiveState, PoseSequence]:
        """The pose for points (P, 3) at a time; `frame` (4, 4) is the actor's world_from_local (see `SourceMotion`)."""
        given = checks.array(points, "points", (self.stage.pairs.source.shape[1], 3))
        frame = np.asarray(frame, np.float64)
        local = (given - frame[:3, 3]) @ frame[:3, :3]
        state = self._filter_points(state, float(time), local)
        assert state.points is not None  # filtered just now
        goals, latent = self._map_points(state)
        start = start_poses(self.stage.pairs, state.points[None], self.stage.free_limbs, 30.0)
        if state.poses is not None:
            start = _hold_spring_limbs(state.poses, start, self.stage)
        skeleton = self.stage.target.skeleton
        pose = solve_ik(self.stage.pairs.markers, skeleton, goals, start=start, degrees=self.degrees)
        origin = frame[:3, 3] if state.origin is None else state.origin
        placed = np.array(frame)
        placed[:3, 3] = origin + self.size * (frame[:3, 3] - origin)
        state = replace(state, poses=pose, latent=latent, origin=origin, frame=state.frame + 1)
        return state, pose.apply_transform(placed[None])

    def _map_points(self, state: LiveState) -> tuple[Array, Array | None]:
        """The target's markers (1, Q, 3), and the latent point (d,) of a shared model.

        The search starts from the latent point of the frame before. That saves most of the iterations, and keeps the
        pose from jumping between two that explain the actor equally well.
        """
        assert state.points is not None  # filtered before
        mapping = self.stage.mapping
        if not isinstance(mapping, SharedMapping):
            return mapping.map(state.points[None]).points, None
        flat = state.points.reshape(1, -1)
        if state.latent is None:
            latent = mapping.model.map(flat)
        else:
            latent = mapping.model.map(flat, LIVE_CONTINUITY_COST, start=state.latent[None], before=state.latent)
        return mapping.predict_markers(state.points[None], latent).points, latent[0]

    def _filter_points(self, state: LiveState, time: float, local: Array) -> LiveState:
        """One step of the one euro filter."""
        passed = time - state.time
        if state.points is None or state.speeds is None or not 0 < passed < MAX_PAUSE_SECONDS:
            return replace(state, time=time, points=local, speeds=np.zeros_like(local))
        speeds = _low_pass(state.speeds, (local - state.points) / passed, SPEED_CUTOFF_HZ, passed)
        cutoff = self.slowest + self.eagerness * np.linalg.norm(speeds, axis=1, keepdims=True)
        return replace(state, time=time, points=_low_pass(state.points, local, cutoff, passed), speeds=speeds)


def _low_pass(value: Array, goal: Array, cutoff: Array | float, passed: float) -> Array:
    """A first-order low pass of a cutoff in hertz, after `passed` seconds."""
    share = 1 - np.exp(-2 * np.pi * np.asarray(cutoff) * passed)
    return np.asarray(value + share * (goal - value))


def _hold_spring_limbs(pose: PoseSequence, held: PoseSequence, stage: TransferTarget) -> PoseSequence:
    """The pose with the spring limbs, which have no markers, as in `held`."""
    joints = [pose.skeleton.index(joint) for limb in stage.free_limbs for joint in limb.joints]
    if not joints:
        return pose
    rotations = np.array(pose.rotations)
    rotations[:, joints] = quaternion.normalise(held.rotations[:, joints])
    return PoseSequence(pose.skeleton, pose.translations, rotations, pose.rate)


def read_live_frames(lines: Iterable[str], actor: Actor | None = None) -> Iterator[LiveFrame]:
    """The frames of a stream as its lines arrive; the first line tells BVH from JSON.

    A BVH stream of another performer than the `actor` of the pairs is played by the actor.
    """
    source = (line for line in lines if line.strip())
    first = next(source, None)
    if first is None:
        raise BadFile(
            INPUT_NAME, "is empty: it should begin with HIERARCHY (BVH) or with a JSON line that names markers"
        )
    if first.lstrip().startswith("{"):
        return _read_marker_frames(first, source)
    return _read_bvh_frames(first, source, actor)


def _read_bvh_frames(first: str, lines: Iterator[str], actor: Actor | None) -> Iterator[LiveFrame]:
    header = [first.rstrip("\n")]
    for line in lines:
        header.append(line.rstrip("\n"))
        if line.strip().lower().startswith("frame time"):
            break
        if len(header) > MAX_HEADER_LINES:
            raise BadFile(INPUT_NAME, "should be BVH, but has no 'Frame Time:'")
    # A finished file gives its number of frames; in one that is still being written the number is meaningless.
    header = ["Frames: 0" if line.strip().lower().startswith("frames:") else line for line in header]
    text = parse("\n".join(header) + "\n", INPUT_NAME)
    step = float(text.frame_time or 0) or 1 / DEFAULT_RATE_FPS
    stream: _BvhStream | None = None
    for number, line in enumerate(lines):
        values = _parse_numbers(line, text.values.shape[1], len(header) + number + 1)
        stream = _BvhStream.begin(text, values, actor) if stream is None else stream
        points, frame = stream.read(values)
        yield LiveFrame(number * step, points, frame)


@dataclass(frozen=True, eq=False)
class _BvhStream:
    """A BVH stream whose unit and up axis are known from its first frame."""

    text: BvhText
    scale: float
    markers: Markers
    played: LiveActor | None  # None: the stream is the actor's own, or there are no bones to go by

    @classmethod
    def begin(cls, text: BvhText, values: Array, actor: Actor | None) -> _BvhStream:
        asset = bvh.to_asset(replace(text, values=values[None]), "live")
        offsets = np.array([joint.offset for joint in text.joints])
        lengths = np.linalg.norm(offsets[1:], axis=1)
        metres = np.linalg.norm(asset.character().skeleton.translations[1:], axis=1)
        longest = int(lengths.argmax()) if len(lengths) else 0
        scale = float(metres[longest] / lengths[longest]) if len(lengths) and lengths[longest] > 0 else 1.0
        performer = asset.character()
        markers = markers_of(performer)
        played = None
        if actor is not None and not actor.is_body(performer.skeleton, markers.names):
            same = markers.names == actor.markers.names
            if not (same and (bone_map(performer).missing or bone_map(actor.character).missing)):
                played = LiveActor.begin(actor, performer, poses_of(asset))
        return cls(text, scale, markers, played)

    def read(self, values: Array) -> tuple[Array, Array]:
        asset: Asset = bvh.to_asset(replace(self.text, values=values[None]), "live", self.scale)
        poses = poses_of(asset)
        if self.played is not None:
            return self.played.read(poses)
        return self.markers.positions(poses.world)[0], self.markers.frames(poses.world)[0]


def _read_marker_frames(first: str, lines: Iterator[str]) -> Iterator[LiveFrame]:
    head = _parse_json(first, 1)
    names = head.get("markers")
    if not isinstance(names, list) or len(names) < 3 or not all(isinstance(name, str) for name in names):
        raise BadFile(INPUT_NAME, 'should begin with {"markers": [three names or more]}', "line 1")
    unit = head.get("units", "m")
    if unit not in UNIT_METRES:
        raise BadFile(INPUT_NAME, f"units should be one of {', '.join(UNIT_METRES)}, but are {unit!r}", "line 1")
    seen: Array | None = None
    for number, line in enumerate(lines):
        place = f"line {number + 2}"
        row = _parse_json(line, number + 2)
        points = _parse_points(row.get("points"), len(names), place) * UNIT_METRES[unit]
        if seen is not None:
            points = np.where(np.isnan(points), seen, points)
        if np.isnan(points).any():
            continue  # a marker has not been seen yet: there is no pose
        seen = points
        time = row.get("time", number / DEFAULT_RATE_FPS)
        if not isinstance(time, int | float):
            raise BadFile(INPUT_NAME, f"time should be a number of seconds, but is {time!r}", place)
        frame = marker_frames(tuple(names), points[None], [])[0]
        yield LiveFrame(float(time), points, frame)


def _parse_points(value: object, count: int, place: str) -> Array:
    if not isinstance(value, list) or len(value) != count:
        given = len(value) if isinstance(value, list) else 0
        raise BadFile(INPUT_NAME, f"points should be {count} lists of x, y, z, but are {given}", place)
    rows = [[np.nan] * 3 if row is None else row for row in value]
    try:
        points = np.array(rows, np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape != (count, 3):
        raise BadFile(INPUT_NAME, "each point should be x, y, z, or null where the marker is not seen", place)
    return points


def _parse_json(line: str, number: int) -> dict[str, object]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadFile(INPUT_NAME, f"is not JSON: {error.msg}", f"line {number}") from None
    if not isinstance(row, dict):
        raise BadFile(INPUT_NAME, "should be a JSON object", f"line {number}")
    return row


def _parse_numbers(line: str, width: int, number: int) -> Array:
    try:
        values = np.array(line.split(), np.float64)
    except ValueError:
        raise BadFile(INPUT_NAME, "a frame should be a line of numbers", f"line {number}") from None
    if len(values) != width:
        raise BadFile(INPUT_NAME, f"should have {width} numbers, but has {len(values)}", f"line {number}")
    if not np.isfinite(values).all():
        raise InvalidInput(f"{INPUT_NAME}, line {number}: numbers should be finite")
    return values
