"""Root motion: which joint carries a character over the ground, and its travel split from the pose.

**Root.** The root is the lowest joint that carries everything that moves. Its world transform is split into a ground
frame (x, z and heading), which becomes velocities, and the rest, which is pose:

    world_from_root = world_from_ground @ ground_from_root

The ground may be any path, since the rest is kept; it is chosen so that poses compare. A joint on the floor that
animators move on purpose is the ground itself. Hips sway and bounce with each step: there the ground is their smoothed
path. And where a clip stays in place its ground stands still, so that playing it for ten minutes does not drift.

**Ground.** A velocity belongs to the frame it leaves: v[f] carries the ground from frame f to frame f + 1. So one row
at a time, as in live play, and a whole clip at once are the same sums in the same order, and agree to the last bit.

**Logarithms** of a clip's rotations about a reference are continuous in time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channels, Skeleton, kinematics
from understudy.checks import Array
from understudy.maths import jit, quaternion, vector
from understudy.maths.resample import gaussian_smooth

KERNELS = "understudy.perform.features.decoding_kernels"
TAU = 2 * np.pi
SMOOTHING_SECONDS = 0.4  # of the Gaussian: leaves 4 % of a sway of 1 Hz, a walk's slowest, and follows a turn of 1 s
FLOOR_HEIGHT_RATIO = 0.05  # of the character's size, below which a joint is on the floor: no pelvis rests that low
# Least travel, over the character's size, and turn of a clip that moves. A floor joint moves only on purpose; hips go
# 0.1 far in a lunge and 0.2 in a fall.
FLOOR_TRAVEL_RATIO, FLOOR_TURN_RAD = 0.02, 0.05
HIPS_TRAVEL_RATIO, HIPS_ROAM_RATIO, HIPS_TURN_RAD = 0.25, 0.75, np.pi / 3
JITTER_RATIO = 1e-5  # of a value, or of 1: smaller changes are an exporter's rounding of a still node
# Distance over the size, and angle, from rest: clips made by hand start within, captured clips do not.
REST_PLACE_RATIO, REST_HEADING_RAD = 0.05, 0.2


@dataclass(frozen=True, slots=True)
class GroundFrame:
    """A position on the floor, metres, and a heading about +Y, radians: 0 faces as the rest pose does, usually +Z."""

    x: float = 0.0
    z: float = 0.0
    heading: float = 0.0

    def step_ground(self, side: float, forward: float, turn: float, seconds: float) -> GroundFrame:
        """The frame after `seconds` at velocities along its own axes (m/s, m/s, rad/s)."""
        sine, cosine = math.sin(self.heading), math.cos(self.heading)
        return GroundFrame(
            self.x + (cosine * side + sine * forward) * seconds,
            self.z + (cosine * forward - sine * side) * seconds,
            self.heading + turn * seconds,
        )


def ground_path(velocities: Array, start: GroundFrame, rate: float) -> tuple[Array, GroundFrame]:
    """The ground (F, 3) of each frame, x, z, heading, for velocities (F, 3), and the ground that follows the last."""
    grounds = np.empty((len(velocities), 3))
    ground, seconds = start, 1.0 / rate
    for frame, (side, forward, turn) in enumerate(velocities.tolist()):
        grounds[frame] = ground.x, ground.z, ground.heading
        ground = ground.step_ground(side, forward, turn, seconds)
    return grounds, ground


def ground_velocities(grounds: Array, rate: float) -> Array:
    """(F, 3) side, forward and turn of each frame of a path (F, 3); the last frame repeats the one before it."""
    if len(grounds) < 2:
        return np.zeros((len(grounds), 3))
    step = np.diff(grounds, axis=0) * rate
    sine, cosine = np.sin(grounds[:-1, 2]), np.cos(grounds[:-1, 2])
    result = np.empty_like(grounds)
    result[:-1, 0] = cosine * step[:, 0] - sine * step[:, 1]
    result[:-1, 1] = sine * step[:, 0] + cosine * step[:, 1]
    result[:-1, 2] = step[:, 2]
    result[-1] = result[-2]
    return result


@dataclass(frozen=True, eq=False)
class RootJoint:
    """The joint that carries a character, and what its ground is found from."""

    joint: str
    world_from_parent: Array  # (4, 4), the same in all clips: a uniform scale, a rotation, a translation
    rest: Array  # (4,) world rotation of the joint at rest, from which headings are measured
    size: float  # metres, the character's largest extent at rest
    on_floor: bool  # the joint is the ground; else the ground is its smoothed path
    at_home: bool  # clips start at the rest pose's position: ground 0, 0, 0; else under the root

    def __post_init__(self) -> None:
        object.__setattr__(self, "world_from_parent", checks.array(self.world_from_parent, "root parent", (4, 4)))
        object.__setattr__(self, "rest", checks.unit_quaternions(self.rest, "root rest rotation", (4,)))

    def as_dict(self) -> dict[str, Any]:
        """For a file's header."""
        return {
            "joint": self.joint,
            "world_from_parent": self.world_from_parent.tolist(),
            "rest": self.rest.tolist(),
            "size": self.size,
            "on_floor": self.on_floor,
            "at_home": self.at_home,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RootJoint:
        """The root of a dictionary made by `as_dict`."""
        return cls(
            str(data["joint"]),
            data["world_from_parent"],
            data["rest"],
            checks.positive(data["size"], "size of the root's character"),
            bool(data["on_floor"]),
            bool(data["at_home"]),
        )

    @cached_property
    def _parent_turn(self) -> Array:
        return quaternion.from_matrix(self.world_from_parent[:3, :3] / _scale(self.world_from_parent))

    @cached_property
    def _parent_from_world(self) -> Array:
        return np.asarray(np.linalg.inv(self.world_from_parent))

    def tracks(self, translations: Array, rotations: Array) -> Array:
        """(F, 3) x, z and continuous heading of the joint, from local translations (F, 3) and rotations (F, 4)."""
        world = translations @ self.world_from_parent[:3, :3].T + self.world_from_parent[:3, 3]
        turn = quaternion.multiply(quaternion.multiply(self._parent_turn, rotations), quaternion.conjugate(self.rest))
        heading = 2 * np.arctan2(turn[:, 1], turn[:, 3])  # the twist about +Y: well defined unless upside down
        heading[0] -= 2 * np.pi * np.round(heading[0] / (2 * np.pi))
        return np.stack([world[:, 0], world[:, 2], np.unwrap(heading)], axis=1)

    def travels(self, tracks: Array) -> bool:
        """Whether a clip travels or turns for good, as opposed to acting on the spot."""
        from_start = tracks - tracks[0]
        far = np.hypot(from_start[:, 0], from_start[:, 1]) / self.size
        turned = np.abs(from_start[:, 2])
        if self.on_floor:
            return bool(far.max() > FLOOR_TRAVEL_RATIO or turned.max() > FLOOR_TURN_RAD)
        return bool(far[-1] > HIPS_TRAVEL_RATIO or far.max() > HIPS_ROAM_RATIO or turned[-1] > HIPS_TURN_RAD)

    def grounds(self, translations: Array, rotations: Array, rate: float) -> Array:
        """(F, 3) the ground under each frame of a clip."""
        tracks = self.tracks(translations, rotations)
        if not self.travels(tracks):
            start = np.zeros(3) if self.at_home else tracks.mean(axis=0)
            return np.tile(start, (len(tracks), 1))
        moved = tracks if self.on_floor else gaussian_smooth(tracks, SMOOTHING_SECONDS * rate)
        return moved - moved[0] if self.at_home else moved

    def remove_ground(self, translations: Array, rotations: Array, grounds: Array) -> tuple[Array, Array]:
        """Local (F, 3) and (F, 4) of the joint as if the ground of each frame were the origin."""
        turn = _yaw(-grounds[:, 2])
        places = translations @ self.world_from_parent[:3, :3].T + self.world_from_parent[:3, 3]
        return self._local(quaternion.rotate(turn, places - _on_floor(grounds)), turn, rotations)

    def apply_ground(self, translations: Array, rotations: Array, grounds: Array) -> tuple[Array, Array]:
        """The inverse of `remove_ground`: local (F, 3) and (F, 4) with each frame on its ground."""
        kernels = jit.kernels(KERNELS)
        moved, rotated = np.empty(translations.shape), np.empty(rotations.shape)
        inverse, parent = self._parent_from_world, self._parent_turn
        kernels.apply_ground(translations, rotations, grounds, self.world_from_parent, inverse, parent, moved, rotated)
        return moved, rotated

    def _local(self, places: Array, turn: Array, rotations: Array) -> tuple[Array, Array]:
        inverse, parent = self._parent_from_world, self._parent_turn
        turn_in_parent = quaternion.multiply(quaternion.multiply(quaternion.conjugate(parent), turn), parent)
        return places @ inverse[:3, :3].T + inverse[:3, 3], quaternion.multiply(turn_in_parent, rotations)


def move_roots(skeleton: Skeleton, channels: Channels, rows: Array, grounds: Array) -> None:
    """Move the characters of rows (M, C) to grounds (M, 3), in place, by the joints that have no parent.

    For characters whose clips all stay in one place: they have no `RootJoint`.
    """
    turns = _yaw(grounds[:, 2])
    for joint in skeleton.roots:
        move, turn = (channels.slice(skeleton.names[joint], kind) for kind in ("translation", "rotation"))
        if move is not None and turn is not None:
            rows[:, move] = quaternion.rotate(turns, rows[:, move]) + _on_floor(grounds)
            rows[:, turn] = quaternion.multiply(turns, rows[:, turn])


def remove_travel(skeleton: Skeleton, channels: Channels, rows: Array, grounds: Array) -> Array:
    """Rows (F, C) in place: as if the ground (F, 3) of every frame were the origin."""
    back = np.zeros_like(grounds)
    back[:, :2] = -grounds[:, :2]
    result = rows.copy()
    move_roots(skeleton, channels, result, back)
    turned = np.zeros_like(grounds)
    turned[:, 2] = -grounds[:, 2]
    move_roots(skeleton, channels, result, turned)
    return result


def find_root(skeleton: Skeleton, channels: Channels, takes: Sequence[Array], rest: Array) -> RootJoint | None:
    """The joint that carries a character through its clips (F, C), or None where all stay in the same place.

    `rest` (C,) is the rig's rest pose. Only joints with translation and rotation channels can be roots, and only those
    that carry all that moves: where feet hang on a joint of their own beside the hips, hips alone cannot travel.
    """
    joint = _carrier(skeleton, channels, takes)
    if joint is None:
        return None
    name = skeleton.names[joint]
    move, turn = channels.slice(name, "translation"), channels.slice(name, "rotation")
    if move is None or turn is None:
        return None
    world_from_parent = _parent_world(skeleton, channels, takes[0][0], joint)
    linear = world_from_parent[:3, :3] / _scale(world_from_parent)
    if np.abs(linear @ linear.T - np.eye(3)).max() > 1e-6 or np.linalg.det(linear) < 0:
        return None  # sheared, mirrored or stretched: a rotation of the ground is not one of the joint
    places = kinematics.world_transforms(
        skeleton.parents, skeleton.translations, quaternion.normalise(skeleton.rotations), skeleton.scales
    )[..., :3, 3]
    size = float(max(np.ptp(places, axis=0).max(), 1e-6))
    home = world_from_parent[:3, :3] @ rest[move] + world_from_parent[:3, 3]
    rest_turn = quaternion.multiply(quaternion.from_matrix(linear), rest[turn])
    on_floor = bool(abs(home[1] - places[:, 1].min()) < FLOOR_HEIGHT_RATIO * size) and not _is_flat(places, size)
    root = RootJoint(name, world_from_parent, rest_turn, size, on_floor, at_home=True)
    tracks = [root.tracks(take[:, move], take[:, turn]) for take in takes]
    starts = np.stack([track[0] for track in tracks])
    heights = np.stack([(take[0, move] @ world_from_parent[1, :3]) + world_from_parent[1, 3] for take in takes])
    away = np.sqrt((starts[:, 0] - home[0]) ** 2 + (starts[:, 1] - home[2]) ** 2 + (heights - home[1]) ** 2)
    at_home = np.median(away) < REST_PLACE_RATIO * size and np.median(np.abs(starts[:, 2])) < REST_HEADING_RAD
    # captured on the spot, but each clip elsewhere: no clip travels, and still the positions are not part of the pose
    spread = np.ptp(starts, axis=0)
    scattered = not at_home and (spread[:2].max() > HIPS_TRAVEL_RATIO * size or spread[2] > HIPS_TURN_RAD)
    if not scattered and not any(root.travels(track) for track in tracks):
        return None
    return RootJoint(name, world_from_parent, rest_turn, size, on_floor, bool(at_home))


def _carrier(skeleton: Skeleton, channels: Channels, takes: Sequence[Array]) -> int | None:
    """The lowest joint that all moving joints hang on, where it moves itself."""
    low = np.min([take.min(axis=0) for take in takes], axis=0)
    high = np.max([take.max(axis=0) for take in takes], axis=0)
    changed = high - low > JITTER_RATIO * np.maximum(1.0, np.abs(high))
    moves = {c.target for i, c in enumerate(channels) if changed[channels.offsets[i] : channels.offsets[i + 1]].any()}
    moving = [joint for joint, name in enumerate(skeleton.names) if name in moves]
    if not moving:
        return None
    shared = set(skeleton.ancestors(moving[0])).intersection(*(skeleton.ancestors(joint) for joint in moving[1:]))
    lowest = max(shared, default=-1)
    return lowest if lowest in moving else None


def _parent_world(skeleton: Skeleton, channels: Channels, row: Array, joint: int) -> Array:
    """(4, 4) world_from_parent of a joint whose ancestors stand still, in a row (C,)."""
    trs = [skeleton.translations.copy(), skeleton.rotations.copy(), skeleton.scales.copy()]
    chain = skeleton.ancestors(joint)[:0:-1]
    for ancestor in chain:
        for values, kind in zip(trs, ("translation", "rotation", "scale")):
            columns = channels.slice(skeleton.names[ancestor], kind)
            if columns is not None:
                values[ancestor] = row[columns]
    if not chain:
        return np.eye(4)
    world = kinematics.world_transforms(skeleton.parents, trs[0], quaternion.normalise(trs[1]), trs[2])
    return np.asarray(world[chain[-1]])


def _is_flat(places: Array, size: float) -> bool:
    """Whether the rest pose (J, 3) lies on the floor, as a snake's, whose body is not a floor joint."""
    return bool(np.ptp(places[:, 1]) < FLOOR_HEIGHT_RATIO * size)


def _yaw(angles: Array) -> Array:
    """(F, 4) rotations about +Y."""
    result = np.zeros((len(angles), 4))
    result[:, 1], result[:, 3] = np.sin(0.5 * angles), np.cos(0.5 * angles)
    return result


def _on_floor(grounds: Array) -> Array:
    return np.stack([grounds[:, 0], np.zeros(len(grounds)), grounds[:, 1]], axis=1)


def _scale(matrix: Array) -> float:
    return float(np.cbrt(abs(np.linalg.det(matrix[:3, :3])))) or 1.0


def logarithms(rotations: Array, reference: Array) -> Array:
    """(F, R, 3) v = log(r^-1 q) of quaternions (F, R, 4) about references (R, 4), continuous along F.

    The logarithm of length up to pi jumps where a rotation passes half a turn from its reference. There v is unwrapped:
    of the vectors v + 2 pi k v / |v|, which all mean the same rotation, the one nearest to the frame before is taken.
    """
    logs = quaternion.log(quaternion.multiply(quaternion.conjugate(reference), rotations))
    # logarithms of neighbouring frames are further apart than half a turn only where one has to be unwrapped
    steps = vector.length(np.diff(logs, axis=0))
    for rotation in np.flatnonzero((steps > np.pi).any(axis=0)):
        logs[:, rotation] = _unwrap_logarithms(logs[:, rotation])
    return logs


def exponentials(logs: Array, reference: Array) -> Array:
    """(F, R, 4) q = r exp(v): the inverse of `logarithms`."""
    result = np.empty((*logs.shape[:-1], 4))
    jit.kernels(KERNELS).rotations(logs, reference, result)
    return result


def _unwrap_logarithms(logs: Array) -> Array:
    """(F, 3) the same rotations, each as near to the one before as whole turns about its axis allow."""
    result = logs.copy()
    for frame in range(1, len(logs)):
        before, length = result[frame - 1], float(np.linalg.norm(logs[frame]))
        if length > vector.MIN_LENGTH:
            axis = logs[frame] / length
        else:  # the identity has no axis: whole turns about the last one
            axis = vector.normalise(before)
        turns = np.round((before @ axis - length) / TAU)
        result[frame] = logs[frame] + TAU * turns * axis
    return result
