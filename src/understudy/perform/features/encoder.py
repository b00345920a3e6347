"""Pose encoder: poses of a rig as the plain numbers that a pose model is fitted to, and back.

    row (C,)  --encode-->  features (E,) = [ plain columns | logarithms, or axes | travel ]  --decode-->  row (C,)

A rotation q becomes v = log(r^-1 q), r being the mean rotation of the clips, so that v stays far from half a turn and a
straight line between two features is a sensible motion. Translations, scales, weights, controls and Euler angles stay
as they are (a triple of angles is no longer unique once it has been turned into a rotation, and decoded row by row it
would jump). Columns that no clip moves are left out and come back as they were. Where the character travels over the
ground its root is taken off the ground, and its velocities are three more features (`root_motion`).

**Full circles.** A rotation that comes full circle becomes two of its axes [Zhou 2019, "On the Continuity of Rotation
Representations in Neural Networks", section 4.2]. A logarithm that is followed beyond half a turn has many values for
one rotation: a head that has spun once is far from one that has not, and near a whole turn a slight tilt is a leap,
since all vectors of that length mean the same. A model would put rotations between such frames that no clip has. The
first two columns of the matrix of r^-1 q have one value for each rotation, and are continuous; the third follows from
them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channel, Channels, Skeleton
from understudy.character.body.bone_names import human_bones
from understudy.checks import Array
from understudy.errors import InvalidInput, spelling_hint
from understudy.maths import quaternion, vector
from understudy.perform.features.root_motion import (
    GroundFrame,
    RootJoint,
    exponentials,
    ground_path,
    ground_velocities,
    logarithms,
)

AXIS_FEATURE_NAMES = ("xx", "xy", "xz", "yx", "yy", "yz")  # of the axes x and y
MIN_AXIS_LENGTH = 1e-6  # shorter axes, or a smaller angle between them, give the reference rotation
TRAVEL_FEATURE_NAMES = ("root.side", "root.forward", "root.turn")  # m/s and m/s along the heading, rad/s about +Y
STILL_VALUE_RATIO = 1e-9  # of the largest value or 1: smaller changes are rounding, even of float32 files
UPPER_BODY = "upper"  # the mask of everything above the legs
SPINE_BONES = ("Spine", "Chest", "UpperChest", "Neck", "Head")  # the first that a character has begins its upper body
ARM_BONES = ("LeftShoulder", "RightShoulder", "LeftUpperArm", "RightUpperArm")
# Arrays of an encoder in a file: shape and type.
ENCODER_ARRAYS: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "base": (("C",), np.float64),
    "plain": (("P",), np.int64),
    "turning": (("R",), np.int64),
    "reference": (("R", 4), np.float64),
    "still": (("R", 3), np.float64),
    "turns": (("T",), np.int64),
    "circling": (("S",), np.int64),
    "travel": (("G",), np.int64),
    "learned": (("E",), np.bool_),
}


@dataclass(frozen=True, eq=False)
class PoseEncoder:
    """Made by `PoseEncoder.fit`. All labels of one character share one, so that their features compare."""

    channels: Channels
    rate: float  # frames a second of the clips
    base: Array  # (C,) the row of which moving columns are replaced
    plain: Array  # (P,) int, the columns that are features as they are
    turning: Array  # (R,) int, the first columns of the rotations that move
    reference: Array  # (R, 4) their mean rotations
    still: Array  # (R, 3) their logarithms where those do not move
    turns: Array  # (T,) int, the moving entries of the (R, 3) logarithms
    circling: Array  # (S,) int, the rotations that are encoded as axes
    travel: Array  # (G,) int, the moving entries of TRAVEL_FEATURE_NAMES
    learned: Array  # (E,) bool, False for excluded features
    root: RootJoint | None = None

    @classmethod
    def fit(
        cls,
        channels: Channels,
        takes: Sequence[Array],
        rate: float,
        rest: Array,
        root: RootJoint | None = None,
        apart: Collection[str] = (),
    ) -> PoseEncoder:
        """The encoder of clips (F, C) at one rate.

        `rest` (C,) is used for a character without clips; `apart` are patterns as in file names, matched with channel
        targets and column names (`eyes.*`): these features are encoded and decoded, but marked as not to be learned.
        """
        rest = checks.array(rest, "rest", (channels.width,))
        takes = [checks.array(take, "a take", ("F", channels.width)) for take in takes]
        takes = [take for take in takes if len(take)] or [rest[None]]
        paths = None if root is None else [_grounds(channels, root, take, rate) for take in takes]
        if paths is not None and root is not None:
            takes = [_remove_ground(channels, root, take, path) for take, path in zip(takes, paths)]
        base = takes[0][0]
        turning = channels.columns_of("rotation")[::4]
        others = np.setdiff1d(np.arange(channels.width), channels.columns_of("rotation"))
        plain = others[_moving([take[:, others] for take in takes])]
        turning = turning[_moving([take[:, turning[:, None] + np.arange(4)] for take in takes]).any(axis=-1)]
        columns = turning[:, None] + np.arange(4)
        reference = quaternion.mean(np.moveaxis(np.concatenate([take[:, columns] for take in takes]), 0, 1))
        logs = [logarithms(take[:, columns], reference) for take in takes]
        around = np.any([turns_full_circle(values) for values in logs], axis=0)
        turns = np.flatnonzero((_moving(logs) & ~around[:, None]).reshape(-1))
        circling = np.flatnonzero(around)
        travel = np.zeros(0, np.int64)
        if paths is not None:
            travel = np.flatnonzero(_moving([np.zeros((1, 3)), *(ground_velocities(p, rate) for p in paths)]))
        unmarked = np.ones(len(plain) + len(turns) + len(AXIS_FEATURE_NAMES) * len(circling) + len(travel), bool)
        values = (base, plain, turning, reference, logs[0][0], turns, circling, travel, unmarked)
        arrays = dict(zip(ENCODER_ARRAYS, values, strict=True))
        frozen = {name: checks.freeze(np.array(array)) for name, array in arrays.items()}
        result = cls(channels, checks.positive(rate, "rate"), **frozen, root=root)
        object.__setattr__(
            result, "learned", checks.freeze(~_match_patterns(channels, result._columns, result.names, apart))
        )
        return result

    def __len__(self) -> int:
        return len(self.learned)

    def __repr__(self) -> str:
        return f"PoseEncoder({self.channels.width} columns, {len(self)} features)"

    @property
    def turned_joints(self) -> frozenset[str]:
        """The joints that the clips turn."""
        moved = set(self.turning.tolist())
        return frozenset(
            channel.target
            for channel, start in zip(self.channels, self.channels.offsets.tolist())
            if channel.kind == "rotation" and start in moved
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(E,) a name for every feature: that of its column, `Hips.rotation.x` for logarithms, `root.turn`."""
        known = self.channels.names
        turned = [f"{known[self.turning[i // 3]].rpartition('.')[0]}.{'xyz'[i % 3]}" for i in self.turns]
        spun = [
            f"{known[i].rpartition('.')[0]}.{name}" for i in self.turning[self.circling] for name in AXIS_FEATURE_NAMES
        ]
        return (*(known[i] for i in self.plain), *turned, *spun, *(TRAVEL_FEATURE_NAMES[i] for i in self.travel))

    @cached_property
    def _columns(self) -> Array:
        """(E,) a column of the channel that each feature belongs to, -1 for travel."""
        spun = np.repeat(self.turning[self.circling], len(AXIS_FEATURE_NAMES))
        return np.concatenate([self.plain, self.turning[self.turns // 3], spun, np.full(len(self.travel), -1)])

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """(E,) the joint, or other target, of the channel that each feature belongs to; "" for travel."""
        owners = np.repeat(np.arange(len(self.channels)), np.diff(self.channels.offsets))
        return tuple("" if column < 0 else self.channels[int(owners[column])].target for column in self._columns)

    def encode(self, rows: Array) -> Array:
        """(F, E) features of the consecutive frames (F, C) of one clip; rotations are continuous along it.

        A single pose has velocity zero.
        """
        rows = self._check_values(rows, self.channels.width, "rows")
        velocities = np.zeros((len(rows), len(TRAVEL_FEATURE_NAMES)))
        if self.root is not None and len(rows):
            path = _grounds(self.channels, self.root, rows, self.rate)
            rows, velocities = (
                _remove_ground(self.channels, self.root, rows, path),
                ground_velocities(path, self.rate),
            )
        logs = logarithms(rows[:, self._turning_columns], self.reference).reshape(len(rows), -1)
        spun = axes_from_rotations(rows[:, self._turning_columns[self.circling]], self.reference[self.circling])
        spun = spun.reshape(len(rows), -1)
        return np.concatenate([rows[:, self.plain], logs[:, self.turns], spun, velocities[:, self.travel]], axis=1)

    def grounds(self, rows: Array) -> Array:
        """(F, 3) the ground, x, z and heading, that `encode` finds under the frames (F, C) of one clip."""
        rows = self._check_values(rows, self.channels.width, "rows")
        if self.root is None or not len(rows):
            return np.zeros((len(rows), 3))
        return _grounds(self.channels, self.root, rows, self.rate)

    def ground_of(self, rows: Array) -> GroundFrame:
        """The ground of the first frame of a clip (F, C): `decode(encode(rows), ground_of(rows))` returns the rows."""
        return GroundFrame(*self.grounds(rows)[0].tolist())

    def decode(self, features: Array, ground: GroundFrame | None = None, rate: float | None = None) -> Array:
        """(F, C) rows of consecutive frames (F, E), the first of them on `ground` (None: the origin).

        `rate` is that of the given frames, where it differs from that of the clips.
        """
        features = self._check_values(features, len(self), "features")
        start = GroundFrame() if ground is None else ground
        grounds = np.tile((start.x, start.z, start.heading), (len(features), 1))
        if len(self.travel):
            grounds, _ = ground_path(self._velocities(features), start, rate or self.rate)
        rows = self.place(features, grounds)
        if len(self.circling):  # axes are the same for q and -q
            spun = self._turning_columns[self.circling]
            rows[:, spun] = quaternion.unroll(rows[:, spun])
        return rows

    def ground_after(
        self, features: Array, ground: GroundFrame | None = None, rate: float | None = None
    ) -> GroundFrame:
        """The ground of the frame that follows one frame (E,), or several (F, E) of which the first is on `ground`."""
        start = GroundFrame() if ground is None else ground
        if not len(self.travel):
            return start
        features = self._check_values(np.atleast_2d(features), len(self), "features")
        return ground_path(self._velocities(features), start, rate or self.rate)[1]

    def place(self, features: Array, grounds: Array) -> Array:
        """(M, C) rows of independent poses (M, E), each on its own ground (M, 3)."""
        rows = self._poses(self._check_values(features, len(self), "features"))
        if self.root is None:
            return rows
        move, turn = _slices(self.channels, self.root)
        rows[:, move], rows[:, turn] = self.root.apply_ground(rows[:, move], rows[:, turn], grounds)
        return rows

    def _poses(self, features: Array) -> Array:
        rows = np.empty((len(features), len(self.base)))
        rows[:] = self.base
        count = len(self.plain)
        rows[:, self.plain] = features[:, :count]
        if len(self.turns):
            logs = np.empty((len(features), self.still.size))
            logs[:] = self.still.reshape(-1)
            logs[:, self.turns] = features[:, count : count + len(self.turns)]
            logs = logs.reshape(-1, *self.still.shape)
            rows[:, self._turning_columns] = exponentials(logs, self.reference)
        if len(self.circling):
            first = count + len(self.turns)
            spun = features[:, first : first + len(AXIS_FEATURE_NAMES) * len(self.circling)]
            spun = spun.reshape(len(features), len(self.circling), -1)
            rows[:, self._turning_columns[self.circling]] = rotations_from_axes(spun, self.reference[self.circling])
        return rows

    def _velocities(self, features: Array) -> Array:
        result = np.zeros((len(features), len(TRAVEL_FEATURE_NAMES)))
        result[:, self.travel] = features[:, len(self) - len(self.travel) :]
        return result

    @cached_property
    def _turning_columns(self) -> Array:
        return self.turning[:, None] + np.arange(4)

    def _check_values(self, values: Array, width: int, name: str) -> Array:
        values = np.asarray(values, np.float64)
        if values.ndim != 2 or values.shape[1] != width:
            raise InvalidInput(f"{name} should have shape (F, {width}), but have {values.shape}")
        return values

    def header(self) -> dict[str, Any]:
        """What `from_parts` needs besides the arrays, as plain values."""
        return {
            "channels": [[c.target, c.kind, list(c.columns)] for c in self.channels],
            "rate": self.rate,
            "root": None if self.root is None else self.root.as_dict(),
        }

    def arrays(self) -> dict[str, Array]:
        """What `from_parts` needs besides the header, as arrays."""
        return {name: getattr(self, name) for name in ENCODER_ARRAYS}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> PoseEncoder:
        """The encoder that `header` and `arrays` describe; checked, since they may come from a file."""
        try:
            channels = Channels(Channel(str(t), str(kind), tuple(columns)) for t, kind, columns in header["channels"])
            root = None if header["root"] is None else RootJoint.from_dict(header["root"])
            rate = checks.positive(header["rate"], "rate of the encoder")
            arrays = {"circling": np.zeros(0, np.int64), **arrays}  # older files have none
            checked = {
                name: checks.array(arrays[name], f"encoder {name}", *spec) for name, spec in ENCODER_ARRAYS.items()
            }
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"the encoder is damaged: {error}") from None
        width, rotations = channels.width, channels.columns_of("rotation")[::4]
        if len(checked["base"]) != width or not np.isin(checked["turning"], rotations).all():
            raise InvalidInput(f"the encoder should be of {width} columns with rotations where its channels have them")
        rotating = len(checked["turning"])
        belows = {"plain": width, "turns": 3 * rotating, "circling": rotating, "travel": len(TRAVEL_FEATURE_NAMES)}
        for name, below in belows.items():
            checks.indices(checked[name], f"encoder {name}", below)
        sizes = {len(checked[name]) for name in ("turning", "reference", "still")}
        count = sum(len(checked[name]) for name in ("plain", "turns", "travel"))
        if len(sizes) != 1 or len(checked["learned"]) != count + len(AXIS_FEATURE_NAMES) * len(checked["circling"]):
            raise InvalidInput("the encoder's arrays should agree on the number of features")
        if root is not None:
            _slices(channels, root)
        return cls(channels, rate, **checked, root=root)


def check_excluded(channels: Channels, patterns: Collection[str]) -> None:
    """Raise where a pattern matches no channel and no column."""
    known = {*channels.names, *(channel.target for channel in channels), *TRAVEL_FEATURE_NAMES}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise InvalidInput(f"{pattern!r} should be kept out of learning, but no channel of the rig is named so")


def turns_full_circle(logs: Array) -> Array:
    """(R,) bool: the rotations whose logarithms (F, R, 3) go further than half a turn from their reference."""
    return np.asarray((vector.length(logs) > np.pi).any(axis=0))


def axes_from_rotations(rotations: Array, reference: Array) -> Array:
    """(F, S, 6) the axes x and y of r^-1 q, of quaternions (F, S, 4) about references (S, 4)."""
    turned = quaternion.to_matrix(quaternion.multiply(quaternion.conjugate(reference), rotations))
    return np.asarray(np.swapaxes(turned[..., :2], -1, -2).reshape(*rotations.shape[:2], 6))


def rotations_from_axes(values: Array, reference: Array) -> Array:
    """(F, S, 4) q, of axes (F, S, 6) that need be neither unit nor at right angles: x is kept, y made orthogonal."""
    x, y = values[..., :3], values[..., 3:]
    z = np.cross(x, y)
    size, span = vector.length(x), vector.length(z)
    sound = (size > MIN_AXIS_LENGTH) & (span > MIN_AXIS_LENGTH * size)
    x = np.where(sound[..., None], x / np.where(sound, size, 1.0)[..., None], [1.0, 0.0, 0.0])
    z = np.where(sound[..., None], z / np.where(sound, span, 1.0)[..., None], [0.0, 0.0, 1.0])
    turned = quaternion.from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))
    return quaternion.multiply(reference, turned)


def _moving(takes: Sequence[Array]) -> Array:
    """Bool: the entries of frames (F, ...) that change over all clips by more than rounding."""
    low = np.min([take.min(axis=0) for take in takes], axis=0)
    high = np.max([take.max(axis=0) for take in takes], axis=0)
    return np.asarray(high - low > STILL_VALUE_RATIO * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high))))


def _match_patterns(channels: Channels, columns: Array, names: Sequence[str], patterns: Collection[str]) -> Array:
    """(E,) bool: the features that any pattern matches."""
    check_excluded(channels, patterns)
    targets = [channel.target for channel in channels for _ in channel.columns]
    result = np.zeros(len(names), bool)
    for pattern in patterns:
        of_target = [i >= 0 and fnmatchcase(targets[i], pattern) for i in columns]
        result |= np.array(of_target, bool) | np.array([fnmatchcase(name, pattern) for name in names], bool)
    return result


def _slices(channels: Channels, root: RootJoint) -> tuple[slice, slice]:
    move, turn = channels.slice(root.joint, "translation"), channels.slice(root.joint, "rotation")
    if move is None or turn is None:
        raise InvalidInput(f"the root {root.joint!r} should have translation and rotation channels, but has not")
    return move, turn


def _grounds(channels: Channels, root: RootJoint, rows: Array, rate: float) -> Array:
    move, turn = _slices(channels, root)
    return root.grounds(rows[:, move], rows[:, turn], rate)


def _remove_ground(channels: Channels, root: RootJoint, rows: Array, path: Array) -> Array:
    move, turn = _slices(channels, root)
    result = np.array(rows)
    result[:, move], result[:, turn] = root.remove_ground(rows[:, move], rows[:, turn], path)
    return result


def mask_features(encoder: PoseEncoder, skeleton: Skeleton, names: Sequence[str]) -> Array:
    """(E,) 1 for the features of some joints and of all that hangs on them, else 0.

    Args:
        encoder: The encoder of the model.
        skeleton: The character's joints.
        names: Names of joints or of other targets of channels, or `"upper"`.

    Returns:
        The mask.

    Raises:
        InvalidInput: If there is no joint of a name, or no feature belongs to any of them.
    """
    targets = encoder.targets
    known = dict.fromkeys([*skeleton.names, *targets])
    chosen: set[str] = set()
    for name in names:
        if name == UPPER_BODY and name not in known:
            chosen |= _upper_body(skeleton)
        elif name in known:
            chosen.add(name)
        else:
            raise InvalidInput(
                f"mask names a joint {name!r} that the character does not have{spelling_hint(name, known)}"
            )
    numbers = {name: number for number, name in enumerate(skeleton.names)}
    roots = {numbers[name] for name in chosen if name in numbers}
    mask = np.zeros(len(encoder))
    for feature, target in enumerate(targets):
        hangs = target in numbers and not roots.isdisjoint(skeleton.ancestors(numbers[target]))
        mask[feature] = float(target in chosen or hangs)
    if not mask.any():
        raise InvalidInput(f"nothing that moves in the clips hangs on the joints of the mask {list(names)}")
    return mask


def _upper_body(skeleton: Skeleton) -> set[str]:
    bones = human_bones(skeleton)
    spine = next((bone for bone in SPINE_BONES if bone in bones), None)
    wanted = [bones[bone] for bone in (spine, *ARM_BONES) if bone is not None and bone in bones]
    if not wanted:
        raise InvalidInput('the mask "upper" needs a spine that is known by its name; give the names of joints instead')
    return {skeleton.names[joint] for joint in wanted}
