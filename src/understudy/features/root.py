"""The travelling root: which joint carries a character over the ground, and its motion told apart from the pose.

The root is the lowest joint that carries everything that moves. Its world transform is split into a ground frame (x, z
and heading), which the learner sees as velocities, and what is left, which is pose:

    world_from_root = world_from_ground @ ground_from_root

The ground may be any path, since what it leaves is kept; it is chosen so that poses compare. A joint on the floor that
animators move on purpose is the ground itself. Hips sway and bounce with each step: there the ground is their path made
smooth. And where a clip stays in place its ground stands still, so that playing it for ten minutes does not drift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channels, Skeleton, kinematics
from understudy.checks import Array
from understudy.features.logarithms import KERNELS
from understudy.maths import accelerate, quaternion
from understudy.maths.smoothing import gaussian_smooth

SMOOTHING = 0.4  # s, of the Gaussian: it leaves 4 % of a sway of 1 Hz, a walk's slowest, and follows a turn of a second
ON_FLOOR = 0.05  # of the character's size: no pelvis rests that low
# Of the character's size. A floor joint moves only on purpose; hips go 0.1 far in a lunge and 0.2 in a fall.
FLOOR_MOVES, FLOOR_TURNS = 0.02, 0.05
HIPS_MOVE, HIPS_ROAM, HIPS_TURN = 0.25, 0.75, np.pi / 3
JITTER = 1e-5  # of a value, or of 1: keys of a node that stands still, rounded by an exporter, are no motion
AT_HOME, FACING_HOME = 0.05, 0.2  # of the size, and radians, from rest: clips made by hand start there, captured do not


@dataclass(frozen=True, eq=False)
class Root:
    """The joint that carries a character, and how its ground is found."""

    joint: str
    world_from_parent: Array  # (4, 4), the same in all takes: a uniform scale, a rotation, a translation
    rest: Array  # (4,) world rotation of the joint at rest, from which headings are measured
    size: float  # metres, the character's largest extent at rest
    on_floor: bool  # the joint is the ground; else the ground is its smoothed path
    at_home: bool  # clips start where the rest pose stands: ground 0, 0, 0; else under the root

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
    def from_dict(cls, data: Mapping[str, Any]) -> Root:
        """The root that `as_dict` described."""
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
        """(F, 3) x, z and heading of the joint itself, the heading continuous; local (F, 3) and (F, 4) are given."""
        world = translations @ self.world_from_parent[:3, :3].T + self.world_from_parent[:3, 3]
        turn = quaternion.multiply(quaternion.multiply(self._parent_turn, rotations), quaternion.conjugate(self.rest))
        heading = 2 * np.arctan2(turn[:, 1], turn[:, 3])  # the twist about +Y: sound unless upside down
        heading[0] -= 2 * np.pi * np.round(heading[0] / (2 * np.pi))
        return np.stack([world[:, 0], world[:, 2], np.unwrap(heading)], axis=1)

    def travels(self, tracks: Array) -> bool:
        """Whether a take goes anywhere, or turns for good, as opposed to acting on the spot."""
        from_start = tracks - tracks[0]
        far = np.hypot(from_start[:, 0], from_start[:, 1]) / self.size
        turned = np.abs(from_start[:, 2])
        if self.on_floor:
            return bool(far.max() > FLOOR_MOVES or turned.max() > FLOOR_TURNS)
        return bool(far[-1] > HIPS_MOVE or far.max() > HIPS_ROAM or turned[-1] > HIPS_TURN)

    def grounds(self, translations: Array, rotations: Array, rate: float) -> Array:
        """(F, 3) the ground under each frame of a take."""
        tracks = self.tracks(translations, rotations)
        if not self.travels(tracks):
            start = np.zeros(3) if self.at_home else tracks.mean(axis=0)
            return np.tile(start, (len(tracks), 1))
        moved = tracks if self.on_floor else gaussian_smooth(tracks, SMOOTHING * rate)
        return moved - moved[0] if self.at_home else moved

    def taken_off(self, translations: Array, rotations: Array, grounds: Array) -> tuple[Array, Array]:
        """Local (F, 3) and (F, 4) of the joint as if the ground of each frame were the origin."""
        turn = _yaw(-grounds[:, 2])
        places = translations @ self.world_from_parent[:3, :3].T + self.world_from_parent[:3, 3]
        return self._local(quaternion.rotate(turn, places - _on_floor(grounds)), turn, rotations)

    def put_on(self, translations: Array, rotations: Array, grounds: Array) -> tuple[Array, Array]:
        """The inverse of `taken_off`: local (F, 3) and (F, 4) with each frame on its ground."""
        kernels = accelerate.kernels(KERNELS)
        if kernels is None:
            return self.put_on_numpy(translations, rotations, grounds)
        moved, rotated = np.empty(translations.shape), np.empty(rotations.shape)
        inverse, parent = self._parent_from_world, self._parent_turn
        kernels.put_on(translations, rotations, grounds, self.world_from_parent, inverse, parent, moved, rotated)
        return moved, rotated

    def put_on_numpy(self, translations: Array, rotations: Array, grounds: Array) -> tuple[Array, Array]:
        """`put_on` in NumPy alone."""
        turn = _yaw(grounds[:, 2])
        places = translations @ self.world_from_parent[:3, :3].T + self.world_from_parent[:3, 3]
        return self._local(quaternion.rotate(turn, places) + _on_floor(grounds), turn, rotations)

    def _local(self, places: Array, turn: Array, rotations: Array) -> tuple[Array, Array]:
        inverse, parent = self._parent_from_world, self._parent_turn
        turn_in_parent = quaternion.multiply(quaternion.multiply(quaternion.conjugate(parent), turn), parent)
        return places @ inverse[:3, :3].T + inverse[:3, 3], quaternion.multiply(turn_in_parent, rotations)


def find_root(skeleton: Skeleton, channels: Channels, takes: Sequence[Array], rest: Array) -> Root | None:
    """The joint that carries a character through its takes (F, C), or None where all stay in the same place.

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
    world_from_parent = _posed_parent(skeleton, channels, takes[0][0], joint)
    linear = world_from_parent[:3, :3] / _scale(world_from_parent)
    if np.abs(linear @ linear.T - np.eye(3)).max() > 1e-6 or np.linalg.det(linear) < 0:
        return None  # sheared, mirrored or stretched: a turn of the ground is not a turn of the joint
    places = kinematics.world_transforms(
        skeleton.parents, skeleton.translations, quaternion.normalise(skeleton.rotations), skeleton.scales
    )[..., :3, 3]
    size = float(max(np.ptp(places, axis=0).max(), 1e-6))
    home = world_from_parent[:3, :3] @ rest[move] + world_from_parent[:3, 3]
    rest_turn = quaternion.multiply(quaternion.from_matrix(linear), rest[turn])
    on_floor = bool(abs(home[1] - places[:, 1].min()) < ON_FLOOR * size) and not _is_flat(places, size)
    root = Root(name, world_from_parent, rest_turn, size, on_floor, at_home=True)
    tracks = [root.tracks(take[:, move], take[:, turn]) for take in takes]
    starts = np.stack([track[0] for track in tracks])
    heights = np.stack([(take[0, move] @ world_from_parent[1, :3]) + world_from_parent[1, 3] for take in takes])
    away = np.sqrt((starts[:, 0] - home[0]) ** 2 + (starts[:, 1] - home[2]) ** 2 + (heights - home[1]) ** 2)
    at_home = np.median(away) < AT_HOME * size and np.median(np.abs(starts[:, 2])) < FACING_HOME
    # captured on the spot, but on another one each time: no take travels, and still the places are no part of the pose
    spread = np.ptp(starts, axis=0)
    scattered = not at_home and (spread[:2].max() > HIPS_MOVE * size or spread[2] > HIPS_TURN)
    if not scattered and not any(root.travels(track) for track in tracks):
        return None
    return Root(name, world_from_parent, rest_turn, size, on_floor, bool(at_home))


def _carrier(skeleton: Skeleton, channels: Channels, takes: Sequence[Array]) -> int | None:
    """The lowest joint that all moving joints hang on, where it moves itself."""
    low = np.min([take.min(axis=0) for take in takes], axis=0)
    high = np.max([take.max(axis=0) for take in takes], axis=0)
    changed = high - low > JITTER * np.maximum(1.0, np.abs(high))
    moves = {c.target for i, c in enumerate(channels) if changed[channels.offsets[i] : channels.offsets[i + 1]].any()}
    moving = [joint for joint, name in enumerate(skeleton.names) if name in moves]
    if not moving:
        return None
    shared = set(skeleton.ancestors(moving[0])).intersection(*(skeleton.ancestors(joint) for joint in moving[1:]))
    lowest = max(shared, default=-1)
    return lowest if lowest in moving else None


def _posed_parent(skeleton: Skeleton, channels: Channels, row: Array, joint: int) -> Array:
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
    """Whether nothing of the rest pose (J, 3) rises above the floor, as of a snake, whose body is no floor joint."""
    return bool(np.ptp(places[:, 1]) < ON_FLOOR * size)


def _yaw(angles: Array) -> Array:
    """(F, 4) turns about +Y."""
    result = np.zeros((len(angles), 4))
    result[:, 1], result[:, 3] = np.sin(0.5 * angles), np.cos(0.5 * angles)
    return result


def _on_floor(grounds: Array) -> Array:
    return np.stack([grounds[:, 0], np.zeros(len(grounds)), grounds[:, 1]], axis=1)


def _scale(matrix: Array) -> float:
    return float(np.cbrt(abs(np.linalg.det(matrix[:3, :3])))) or 1.0
