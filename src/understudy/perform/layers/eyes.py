"""The eyes of a character: where they sit, how far they turn, and the angles that look at a point.

Eyes are joints by name (`LeftEye`, `eye.L`, `mixamorig:LeftEye`), or ARKit's eyeLook shapes. On a rig with controls,
the controls of the eyes are those that turn these joints in the head; each is probed for its signs and gains.

An eye at e (in the frame of the head) that looks at p has, with the face's axes left l, up u, forward f and d = p - e,

    yaw = atan2(d.l, d.f)        pitch = atan2(d.u, |(d.l, d.f)|)

**Head frame.** A rig evaluates all joints of many rows at once, and a single row costs it half a millisecond. The gaze
needs one joint of one row each frame, so the chain of its ancestors is evaluated alone, in microseconds. Where a rule
of the rig is more than a sum, the rig is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from glob import escape
from math import atan2, cos, hypot, pi, radians, sin

import numpy as np

from understudy.character.body.bone_names import eye_joints, facing_axes, human_bones
from understudy.character.controls import COMPONENTS
from understudy.character.rig import DirectRig, LayeredRig, PosedRig
from understudy.checks import Array
from understudy.maths import jit, quaternion
from understudy.perform.layers.eye_drives import (
    CLOSED_EYE_RATIO,
    PER_EYE,
    Angles,
    ControlDrive,
    EyeDrive,
    EyeJoint,
    JointDrive,
    ShapeDrive,
    face_columns,
    lids_of,
    probe_controls,
)

KERNELS = "understudy.perform.layers.layer_kernels"
# How far eyes turn across and up. People reach 50 and 40 degrees, but turn the head earlier.
EYE_REACH_RAD = (radians(35), radians(25))
SHAPE_REACH_RAD = (radians(35), radians(28))  # angles across and up that weight 1 of ARKit's shapes stands for
MAX_VERGENCE_RAD = radians(10)  # of each eye; more is cross-eyed
MAX_SKEW_RAD = radians(2)
# Beyond the first angle a point is followed less and less; from the second on, behind the head, the eyes look ahead.
GAZE_FADE_RAD = (radians(100), radians(150))
MIN_PROBE_TURN_RAD = 1e-6  # a control that turns an eye less than this in a probe does not drive it; rounding is 1e-16
SHARED_CONTROL_RATIO = 0.5  # a control drives both eyes if one turns at least half as far as the other

Point = tuple[float, float, float]
"""x, y and z, metres."""
Frame = tuple[float, ...]
"""world_from_joint, its upper three rows one after the other: 12 numbers."""


@dataclass(frozen=True, eq=False)
class Eyes:
    """Where the eyes of a character sit, how far they turn, and what turns them."""

    rig: PosedRig
    head: HeadFrame
    axes: tuple[Point, Point, Point]  # left, up and forward of the face, in the frame of the head
    left: Point  # of the eye's centre, in the frame of the head
    right: Point
    reach: tuple[float, float]  # radians across and up
    drive: EyeDrive
    middle: Point = field(init=False)  # between the eyes, in the frame of the head
    separation: float = field(init=False)  # metres between the eyes at rest
    _in_face: tuple[float, ...] = field(init=False, repr=False)  # left and right eye in the axes of the face
    arrays: tuple[Array, Array, Array, Array] = field(init=False, repr=False)  # axes, both eyes, their middle, reach

    def __post_init__(self) -> None:
        # Plain numbers, made once: the gaze asks for these in every frame.
        left, right, axes = np.array(self.left), np.array(self.right), np.array(self.axes)
        object.__setattr__(self, "middle", to_point(0.5 * (left + right)))
        object.__setattr__(self, "_in_face", (*(axes @ left).tolist(), *(axes @ right).tolist()))
        in_face = np.array(self._in_face)
        object.__setattr__(self, "arrays", (axes, in_face, axes @ (0.5 * (left + right)), np.array(self.reach)))
        frame = np.array(self.head.evaluate_row(self.rig.rest)).reshape(3, 4)
        object.__setattr__(self, "separation", float(np.linalg.norm(frame[:, :3] @ (left - right))))

    @classmethod
    def from_rig(cls, rig: PosedRig) -> Eyes | None:
        """The eyes of a rig's character, or None where none are found."""
        joints = eye_joints(rig.character)
        if joints is not None:
            return _eyes_from_joints(rig, joints)
        return None if isinstance(rig, LayeredRig) else _eyes_from_shapes(rig)

    def angles(self, frame: Frame, point: Point) -> Angles:
        """The angles, within reach, that look at a point of the world with the head at `frame`."""
        x, y, z = to_local(frame, point)
        (sx, sy, sz), (ux, uy, uz), (fx, fy, fz) = self.axes
        across, up, ahead = x * sx + y * sy + z * sz, x * ux + y * uy + z * uz, x * fx + y * fy + z * fz
        lx, ly, lz, rx, ry, rz = self._in_face
        a, c = atan2(across - lx, ahead - lz), atan2(across - rx, ahead - rz)
        b, d = atan2(up - ly, hypot(across - lx, ahead - lz)), atan2(up - ry, hypot(across - rx, ahead - rz))
        if c - a < -pi or c - a > pi:  # straight behind, where one eye would turn left and the other right
            a = c
        return self.clamp_to_limits(Angles(0.5 * (a + c), 0.5 * (b + d), 0.5 * (c - a), 0.5 * (b - d)))

    def bearing(self, frame: Frame, point: Point) -> tuple[float, float]:
        """Yaw and pitch of a point seen from between the eyes, not limited to their reach."""
        x, y, z = to_local(frame, point)
        x, y, z = x - self.middle[0], y - self.middle[1], z - self.middle[2]
        (sx, sy, sz), (ux, uy, uz), (fx, fy, fz) = self.axes
        across, up, ahead = x * sx + y * sy + z * sz, x * ux + y * uy + z * uz, x * fx + y * fy + z * fz
        yaw, pitch = atan2(across, ahead), atan2(up, hypot(across, ahead))
        seen = _visibility(hypot(yaw, pitch))
        return yaw * seen, pitch * seen

    def clamp_to_limits(self, angles: Angles) -> Angles:
        """The nearest angles within reach: an ellipse, little vergence and skew, and ahead for points behind."""
        yaw, pitch, verge, skew = angles
        seen = _visibility(hypot(yaw, pitch))
        if seen < 1.0:
            yaw, pitch, verge, skew = yaw * seen, pitch * seen, verge * seen, skew * seen
        out = hypot(yaw / self.reach[0], pitch / self.reach[1])
        if out > 1.0:
            yaw, pitch = yaw / out, pitch / out
        return Angles(yaw, pitch, min(max(verge, 0.0), MAX_VERGENCE_RAD), min(max(skew, -MAX_SKEW_RAD), MAX_SKEW_RAD))

    def direction(self, frame: Frame, yaw: float, pitch: float) -> Point:
        """The unit direction in the world of a gaze at this yaw and pitch in the face."""
        across, up, ahead = sin(yaw) * cos(pitch), sin(pitch), cos(yaw) * cos(pitch)
        (sx, sy, sz), (ux, uy, uz), (fx, fy, fz) = self.axes
        u = across * sx + up * ux + ahead * fx
        v = across * sy + up * uy + ahead * fy
        w = across * sz + up * uz + ahead * fz
        a, b, c, _, d, e, f, _, g, h, i, _ = frame
        x, y, z = a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w
        size = (x * x + y * y + z * z) ** 0.5 or 1.0
        return x / size, y / size, z / size

    def centre(self, frame: Frame) -> Point:
        """The point between the eyes, in the world."""
        u, v, w = self.middle
        a, b, c, x, d, e, f, y, g, h, i, z = frame
        return a * u + b * v + c * w + x, d * u + e * v + f * w + y, g * u + h * v + i * w + z


def _visibility(off: float) -> float:
    """Weight, 0 to 1, of a point that lies `off` radians from straight ahead."""
    return (
        1.0
        if off <= GAZE_FADE_RAD[0]
        else max(1.0 - (off - GAZE_FADE_RAD[0]) / (GAZE_FADE_RAD[1] - GAZE_FADE_RAD[0]), 0.0)
    )


def to_local(frame: Frame, point: Point) -> Point:
    """A point of the world in the coordinates of a frame: M^-1 (p - t), by Cramer's rule."""
    a, b, c, tx, d, e, f, ty, g, h, i, tz = frame
    x, y, z = point[0] - tx, point[1] - ty, point[2] - tz
    ei, fg, dh = e * i - f * h, f * g - d * i, d * h - e * g
    det = a * ei + b * fg + c * dh
    if det == 0.0:  # a head of scale zero
        return 0.0, 0.0, 0.0
    return (
        (ei * x + (c * h - b * i) * y + (b * f - c * e) * z) / det,
        (fg * x + (a * i - c * g) * y + (c * d - a * f) * z) / det,
        (dh * x + (b * g - a * h) * y + (a * e - b * d) * z) / det,
    )


def gaze_columns(rig: PosedRig) -> tuple[str, ...]:
    """The controls, joints or shapes that the gaze drives, as patterns of what `PoseEncoder.fit` leaves unlearned."""
    eyes = Eyes.from_rig(rig)
    return () if eyes is None else tuple(escape(name) for name in eyes.drive.names)


def lid_columns(rig: PosedRig) -> tuple[str, ...]:
    """The columns that shut the lids of a character with eyes, without those that turn the eyes; patterns as above.

    Blinks shut the lids. In a pose space shut eyes are poses among others, where an idle may stay for a second.
    """
    eyes = Eyes.from_rig(rig)
    if eyes is None:
        return ()
    columns = (int(column) for lid in lids_of(rig) for column in (*lid.columns, *lid.others))
    names = (rig.channels.names[column] for column in columns)
    turning = {*eyes.drive.names, *(f"{name}.controls.value" for name in eyes.drive.names)}
    return tuple(dict.fromkeys(escape(name) for name in names if name not in turning))


def open_and_frontal(rig: PosedRig, rows: Array) -> tuple[Array, Array]:
    """(F,) whether the eyes are open, and (F,) radians by which the face is turned aside, for rows (F, C).

    A character without lids has open eyes, one without eyes looks ahead.
    """
    eyes, lids = Eyes.from_rig(rig), lids_of(rig)
    shut = np.min([lid.closures(rows) for lid in lids], axis=0) if lids else np.zeros(len(rows))
    if eyes is None:
        return shut <= CLOSED_EYE_RATIO, np.zeros(len(rows))
    frames = eyes.head.evaluate_rows(np.vstack([rig.rest, rows])).reshape(-1, 3, 4)
    ahead = frames[:, :, :3] @ np.array(eyes.axes[2])
    left = frames[0, :, :3] @ np.array(eyes.axes[0])
    return shut <= CLOSED_EYE_RATIO, np.abs(np.arctan2(ahead[1:] @ left, ahead[1:] @ ahead[0]))


def _eyes_from_joints(rig: PosedRig, joints: tuple[int, int]) -> Eyes | None:
    skeleton = rig.character.skeleton
    above = [skeleton.ancestors(joint)[1:] for joint in joints]
    shared = [joint for joint in above[0] if joint in above[1]]
    if not shared:
        return None
    head = shared[0]
    worlds = rig.joints(rig.rest[None])[0]
    axes = facing_axes(rig)
    in_head = np.linalg.inv(worlds[head])
    places = [(in_head @ worlds[joint])[:3, 3] for joint in joints]
    face = in_head[:3, :3] @ axes
    face = face / np.linalg.norm(face, axis=0)
    drive: ControlDrive | JointDrive | None
    if isinstance(rig, LayeredRig):
        drive = _control_drive(rig, joints, head, axes)
    else:
        drive = _joint_drive(rig, joints, worlds, axes)
    if drive is None:
        return None
    sides = (to_point(face[:, 0]), to_point(face[:, 1]), to_point(face[:, 2]))
    return Eyes(rig, HeadFrame(rig, head), sides, to_point(places[0]), to_point(places[1]), _reach(drive), drive)


def _eyes_from_shapes(rig: PosedRig) -> Eyes | None:
    """The eyes of a head with ARKit's shapes: each sits where its eyeLook shapes move the mesh most."""
    columns = {name: places for name, places in face_columns(rig).items() if name.startswith("eyeLook")}
    if not any(name.endswith("Left") for name in columns) or not any(name.endswith("Right") for name in columns):
        return None
    head = human_bones(rig.character).get("Head", int(rig.character.skeleton.roots[0]))
    places = []
    for side in ("Left", "Right"):
        moved = np.zeros(rig.character.vertex_count)
        rest = rig.vertices(rig.rest[None])[0].astype(np.float64)
        for name in columns:
            if name.endswith(side):
                row = rig.rest.copy()
                row[list(columns[name])] = 1.0
                moved += np.linalg.norm(rig.vertices(row[None])[0] - rest, axis=1)
        if not moved.any():
            return None
        places.append(moved @ rest / moved.sum())
    axes = facing_axes(rig)
    if (places[0] - places[1]) @ axes[:, 0] < 0:  # the joints do not say left and right, and the face looks along -Z
        axes = axes * np.array([-1.0, 1.0, -1.0])
    in_head = np.linalg.inv(rig.joints(rig.rest[None])[0, head])
    face = in_head[:3, :3] @ axes
    face = face / np.linalg.norm(face, axis=0)
    local = [in_head[:3, :3] @ place + in_head[:3, 3] for place in places]
    names = tuple(sorted({rig.channels.names[c] for places_of in columns.values() for c in places_of}))
    drive = ShapeDrive(names, columns, SHAPE_REACH_RAD)
    sides = (to_point(face[:, 0]), to_point(face[:, 1]), to_point(face[:, 2]))
    return Eyes(rig, HeadFrame(rig, head), sides, to_point(local[0]), to_point(local[1]), EYE_REACH_RAD, drive)


def _reach(drive: EyeDrive) -> tuple[float, float]:
    """Radians across and up: the usual reach, or that of the controls of both eyes where it is smaller."""
    if not isinstance(drive, ControlDrive):
        return EYE_REACH_RAD
    low, rest, high = drive.ranges
    most = np.where(drive.is_both, np.minimum(high - rest, rest - low), 0.0)
    can = (np.abs(drive.gains[:2]) * most).max(axis=1)
    return min(EYE_REACH_RAD[0], float(can[0])), min(EYE_REACH_RAD[1], float(can[1]))


def _control_drive(rig: LayeredRig, joints: tuple[int, int], head: int, axes: Array) -> ControlDrive | None:
    """The controls that turn an eye relative to the head, found by probing each."""
    controls = rig.controls
    tried, step, rows = probe_controls(rig)
    worlds = rig.joints(rows)
    in_head = np.linalg.inv(worlds[:, head]) @ worlds[:, joints].swapaxes(0, 1)  # (2, 1 + n, 4, 4)
    turns = in_head[:, 1:, :3, :3] @ np.linalg.inv(in_head[:, :1, :3, :3])
    world_from_head = worlds[0, head, :3, :3]
    forward = np.linalg.inv(world_from_head) @ axes[:, 2]
    across, up, ahead = np.moveaxis(
        turns @ forward @ world_from_head.T @ axes, -1, 0
    )  # of the forward direction, (2, n)
    turned = np.stack([np.arctan2(across, ahead), np.arctan2(up, np.hypot(across, ahead))], axis=1)
    sizes = np.abs(turned).max(axis=1)  # (2, n)
    driving = np.flatnonzero(sizes.max(axis=0) > MIN_PROBE_TURN_RAD)
    if not len(driving):
        return None
    columns = tried[driving]
    gains = np.linalg.inv(PER_EYE) @ (turned.reshape(4, -1) / step)[:, driving]
    is_both = sizes.min(axis=0)[driving] > SHARED_CONTROL_RATIO * sizes.max(axis=0)[driving]
    ranges = np.stack([controls.low[columns], controls.rest[columns], controls.high[columns]])
    return ControlDrive(tuple(controls.names[i] for i in columns), columns, gains, is_both, ranges)


def _joint_drive(rig: PosedRig, joints: tuple[int, int], worlds: Array, axes: Array) -> JointDrive | None:
    skeleton = rig.character.skeleton
    eyes = []
    for joint in joints:
        column = rig.channels.slice(skeleton.names[joint], "rotation")
        if column is None:
            return None
        parent_from_face = quaternion.from_matrix(_rotation_part(worlds[skeleton.parents[joint]]).T @ axes)
        after = quaternion.multiply(quaternion.conjugate(parent_from_face), skeleton.rotations[joint])
        eyes.append(EyeJoint(column.start, quaternion.to_scalars(parent_from_face), quaternion.to_scalars(after)))
    return JointDrive(tuple(skeleton.names[joint] for joint in joints), *eyes)


def _rotation_part(world: Array) -> Array:
    """The rotation of a transform without its scale."""
    return world[:3, :3] / np.linalg.norm(world[:3, :3], axis=0)


def to_point(at: Sequence[float] | Array) -> Point:
    """Three coordinates as plain numbers."""
    x, y, z = at
    return float(x), float(y), float(z)


class HeadFrame:
    """world_from_joint of one joint of a rig."""

    def __init__(self, rig: PosedRig, joint: int) -> None:
        self.rig, self.joint = rig, joint
        chain = rig.character.skeleton.ancestors(joint)[::-1]
        self._quick = _kernel_direct(chain) if isinstance(rig, DirectRig) else _kernel_layered(rig, chain)

    def evaluate_row(self, row: Array) -> Frame:
        """The frame of a row (C,)."""
        if self._quick is None:
            return self.evaluate_by_rig(row)
        return tuple(self._quick(np.ascontiguousarray(row, np.float64)[None])[0].tolist())

    def evaluate_rows(self, rows: Array) -> Array:
        """(M, 12) the frames of rows (M, C)."""
        if self._quick is None:
            return np.ascontiguousarray(self.rig.joints(rows)[:, self.joint, :3]).reshape(-1, 12)
        return self._quick(np.ascontiguousarray(rows, np.float64))

    def evaluate_by_rig(self, row: Array) -> Frame:
        """The frame of a row (C,), evaluated by the rig."""
        return tuple(self.rig.joints(row[None])[0, self.joint, :3].ravel().tolist())


def _kernel_direct(chain: list[int]) -> Callable[[Array], Array]:
    return partial(jit.kernels(KERNELS).head_frames_direct, starts=10 * np.array(chain, np.int64))


def _kernel_layered(rig: PosedRig, chain: list[int]) -> Callable[[Array], Array] | None:
    if not isinstance(rig, LayeredRig):
        return None
    layers, skeleton = rig.layers, rig.character.skeleton
    place = {skeleton.names[joint]: n for n, joint in enumerate(chain)}
    components = {
        number: (place[joint], COMPONENTS.index(component))
        for number, (joint, component) in enumerate(layers.components)
        if joint in place
    }
    if np.isin([*layers.corrective_parameter, *layers.toward_parameter], list(components)).any():
        return None  # products and targets need the rig
    drives = np.flatnonzero(np.isin(layers.drive_parameter, list(components)))
    columns, place_of_column = np.unique(layers.drive_control[drives], return_inverse=True)
    gains = np.zeros((len(chain), len(COMPONENTS), len(columns)))
    for drive, k in zip(drives, place_of_column.ravel()):
        gains[*components[int(layers.drive_parameter[drive])], k] += layers.drive_gain[drive]
    limits = np.zeros((2, len(chain), len(COMPONENTS)))
    for number, (n, i) in components.items():
        limits[:, n, i] = layers.low[number], layers.high[number]
    controls = rig.controls
    ranges = np.stack([controls.low[columns], controls.rest[columns], controls.high[columns]])
    rest = tuple(np.ascontiguousarray(a[chain]) for a in (skeleton.translations, skeleton.rotations, skeleton.scales))
    kernels = jit.kernels(KERNELS)
    return lambda rows: kernels.head_frames_layered(rows, columns, ranges, gains, limits, *rest)
