"""BVH (Biovision hierarchy): motion capture as a skeleton and Euler angles, read here and written by `bvh_writer`.

    HIERARCHY                                     MOTION
    ROOT Hips                                     Frames: 2
    {                                             Frame Time: 0.0333333
        OFFSET 0 0 0                              0 95 0 0 10 0
        CHANNELS 6 Xposition ... Xrotation        0 96 0 0 12 0
        End Site { OFFSET 0 10 0 }
    }

Writers differ in case, white space, line ends and brackets; names may contain spaces. `parse` gives the numbers in the
file's own units, `to_asset` a skeleton and a clip.

At rest every joint's axes are those of the world, and a joint's rotation is the product of its rotation channels in
the order in which the file lists them: Zrotation Yrotation Xrotation means R = Rz Ry Rx. The file names no unit and no
up axis, and prints the frame time with few digits: all three are guessed (`conventions`) and noted. End Sites and
channel orders are kept in `Skeleton.extra["bvh"]`, where the writer finds them again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Channel, Channels, Character, Clip, Skeleton, kinematics
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.formats import conventions
from understudy.formats.bvh_writer import CENTIMETRE_MARK, write
from understudy.maths import euler, quaternion

__all__ = ["parse", "read", "write"]

MAX_JOINTS = 20_000  # the largest rigs in use have a tenth of that number
MIN_FRAME_SECONDS, MAX_FRAME_SECONDS = 1e-6, 3600.0  # seconds; 0 is allowed and noted
MAX_CHANNELS_PER_JOINT = 12  # position, rotation and scale make nine
DEFAULT_FRAME_RATE = 30.0  # frames a second, where the frame time is 0
INSERTED_POSE_RAD = np.radians(15)  # joints rotate less in a frame, even in the fastest motion at 60 fps

Y_FROM_Z_UP = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # quaternion, -90 degrees about X: z becomes y, y becomes -z
CHANNEL_PATTERN = re.compile(r"([xyz])(position|rotation|scale)", re.IGNORECASE)
MOTION_PATTERN = re.compile(r"^[ \t]*MOTION[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
# Every repetition but the first is bounded, so that no text takes quadratic time.
TIMING_PATTERN = re.compile(
    r"\s*Frames\s{0,64}:?\s{0,64}(?P<frames>[^\s:]{1,64})\s{1,64}"
    r"Frame\s{0,64}Time\s{0,64}:?\s{0,64}(?P<time>[^\s:]{1,64})(?P<tail>[^\S\n]{0,64})(?=\s|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class BvhJoint:
    """One joint of the hierarchy: `channels` as (axis, kind) pairs, `end` the offset of its End Site."""

    name: str
    parent: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: tuple[tuple[str, str], ...] = ()
    end: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class BvhText:
    """A whole file: joints in the file's order, and the values (F, C), C the channels of all joints in turn."""

    joints: tuple[BvhJoint, ...]
    values: Array
    frame_time: str  # as printed, "" where there is no motion
    tail: str = ""  # the white space behind the frame time
    notes: tuple[str, ...] = ()


@dataclass
class _OpenBlock:
    """A block of the hierarchy whose closing bracket has not been read."""

    number: int  # of the joint; an End Site has that of its joint
    is_end: bool = False
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: list[tuple[str, str]] = field(default_factory=list)


def read(path: str | Path, scale: float | None = None) -> Asset:
    """The skeleton and the motion of a BVH file; `scale` is metres per unit where the guess is wrong."""
    path = Path(path)
    if scale is not None:
        checks.positive(scale, "scale")
    return to_asset(parse(files.read_text(path), path), path.stem, scale)


def parse(text: str, path: str | Path = "<text>") -> BvhText:
    """Read the text of a BVH file; damage is refused with the line where it lies."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    motion = MOTION_PATTERN.search(text)
    header = text if motion is None else text[: motion.start()]
    joints = tuple(_hierarchy(header, path))
    width = sum(len(joint.channels) for joint in joints)
    if motion is None:
        return BvhText(joints, np.zeros((0, width)), "", notes=("there is no MOTION: only the skeleton was read",))
    line = header.count("\n") + 1
    timing = TIMING_PATTERN.match(text, motion.end())
    if timing is None:
        raise BadFile(
            path, "MOTION should be followed by 'Frames:' and 'Frame Time:' with a number each", f"line {line}"
        )
    claimed = _frame_count(timing["frames"], path, f"line {line + 1}")
    _check_frame_time(timing["time"], path, f"line {line + 2}")
    first_line = line + text.count("\n", motion.start(), timing.end())
    flat = conventions.parse_numbers(text[timing.end() :].encode("utf-8", "replace"), path, first_line)
    if width == 0 and len(flat):
        raise BadFile(path, "there are motion values, but no joint has channels", f"line {first_line + 1}")
    frames, rest = divmod(len(flat), width) if width else (0, 0)
    if claimed > 10 * frames + 1000:
        raise BadFile(path, f"claims {claimed:,} frames, but holds {frames:,}", f"line {line + 1}")
    notes = []
    if rest:
        notes.append(f"the last frame has {rest} of {width} values and was left out")
    if frames != claimed and width:
        notes.append(f"the file says {claimed} frames, but holds {frames}, all of which were read")
    values = flat[: frames * width].reshape(frames, width)
    return BvhText(joints, values, timing["time"], timing["tail"].rstrip("\r"), tuple(notes))


def _frame_count(word: str, path: str | Path, place: str) -> int:
    try:
        return max(int(float(word)), 0)
    except (ValueError, OverflowError):
        raise BadFile(path, f"the number of frames should be a whole number, but is {word[:40]!r}", place) from None


def _check_frame_time(word: str, path: str | Path, place: str) -> None:
    try:
        seconds = float(word)
    except ValueError:
        seconds = -1.0
    if not (seconds == 0 or MIN_FRAME_SECONDS <= seconds <= MAX_FRAME_SECONDS) or "_" in word:
        raise BadFile(path, f"the frame time should be seconds above zero, but is {word[:40]!r}", place)


def _hierarchy(header: str, path: str | Path) -> list[BvhJoint]:
    joints: list[BvhJoint] = []
    blocks: list[_OpenBlock] = []
    waiting: _OpenBlock | None = None  # named, its bracket not yet opened
    started, last_line = False, 1

    for line, statement in _statements(header):
        place, last_line = f"line {line}", line
        key, *others = statement.split(None, 1)
        word, rest = key.lower(), others[0] if others else ""
        if not started:
            if word != "hierarchy":
                raise BadFile(path, f"a BVH file should begin with HIERARCHY, but begins with {key[:40]!r}", place)
            started = True
        elif word == "{" and waiting is not None:
            blocks.append(waiting)
            waiting = None
        elif word == "}" and blocks and waiting is None:
            _close(blocks.pop(), joints)
        elif word in ("root", "joint", "end") and waiting is None:
            if (word == "root") != (not blocks) or (blocks and blocks[-1].is_end):
                raise BadFile(path, f"{statement[:60]!r} is out of place", place)
            waiting = _begin(word, rest, blocks, joints)
            if len(joints) > MAX_JOINTS:
                raise BadFile(path, f"has more than {MAX_JOINTS:,} joints", place)
        elif word == "offset" and blocks and waiting is None:
            blocks[-1].offset = _offset(rest, path, place)
        elif word == "channels" and blocks and not blocks[-1].is_end and waiting is None:
            blocks[-1].channels = _channels(rest, path, place)
        else:
            raise BadFile(path, f"{statement[:60]!r} is out of place in the hierarchy", place)
    if blocks or waiting is not None:
        raise BadFile(path, "the hierarchy ends before all its brackets are closed", f"line {last_line}")
    if not joints:
        raise BadFile(path, "a BVH file should have at least one ROOT, but has none", f"line {last_line}")
    return joints


def _statements(header: str) -> Iterator[tuple[int, str]]:
    """Each statement with its line number; brackets are statements of their own."""
    for number, line in enumerate(header.split("\n"), 1):
        for piece in re.split(r"([{}])", line):
            statement = piece.strip()
            if statement:
                yield number, statement


def _begin(word: str, name: str, blocks: list[_OpenBlock], joints: list[BvhJoint]) -> _OpenBlock:
    if word == "end":
        return _OpenBlock(blocks[-1].number, is_end=True)
    joints.append(BvhJoint(name, blocks[-1].number if blocks else -1))
    return _OpenBlock(len(joints) - 1)


def _close(block: _OpenBlock, joints: list[BvhJoint]) -> None:
    joint = joints[block.number]
    if block.is_end:
        joints[block.number] = BvhJoint(joint.name, joint.parent, joint.offset, joint.channels, block.offset)
    else:
        joints[block.number] = BvhJoint(joint.name, joint.parent, block.offset, tuple(block.channels), joint.end)


def _offset(rest: str, path: str | Path, place: str) -> tuple[float, float, float]:
    words = rest.split()
    try:
        x, y, z = (float(word) for word in words)
    except ValueError:
        raise BadFile(path, f"OFFSET should have three numbers, but has {rest[:60]!r}", place) from None
    if not all(abs(value) <= checks.LARGEST_NUMBER for value in (x, y, z)):
        raise BadFile(path, f"OFFSET should have three finite numbers, but has {rest[:60]!r}", place)
    return x, y, z


def _channels(rest: str, path: str | Path, place: str) -> list[tuple[str, str]]:
    words = rest.split()
    if not words or not words[0].isdecimal() or int(words[0][:9]) != len(words) - 1:
        raise BadFile(path, f"CHANNELS should have their number and that many names, but has {rest[:80]!r}", place)
    channels = []
    for word in words[1:]:
        match = CHANNEL_PATTERN.fullmatch(word)
        if match is None:
            raise BadFile(path, f"{word[:40]!r} is not a channel such as Xposition or Zrotation", place)
        channels.append((match[1].upper(), match[2].lower()))
    once = [channel for channel in channels if channel[1] != "rotation"]  # Zrotation Xrotation Zrotation is an order
    if len(set(once)) != len(once) or len(channels) > MAX_CHANNELS_PER_JOINT:
        raise BadFile(path, f"a channel appears twice in {rest[:80]!r}", place)
    return channels


def to_asset(text: BvhText, name: str, scale: float | None = None) -> Asset:
    """The parsed text in metres, Y up, rotations as quaternions."""
    notes = list(text.notes)
    names = conventions.make_distinct((joint.name for joint in text.joints), "joint", notes)
    parents = np.array([joint.parent for joint in text.joints])
    offsets = np.array([joint.offset for joint in text.joints])
    rotations = _rotations(text)  # (F, J, 4)
    positions = _positions(text, offsets, notes)  # (F, J, 3)
    if any(kind == "scale" for joint in text.joints for _, kind in joint.channels):
        notes.append("scale channels were left out")

    metres = _scale(text, parents, offsets, scale, notes)
    roots = np.flatnonzero(parents < 0)
    rest_rotations = quaternion.identity((len(names),))
    if _stands_along_z(names, parents, offsets, positions, rotations):
        notes.append("the body stands along Z: it was turned to Y up")
        rest_rotations[roots] = Y_FROM_Z_UP
        offsets[roots] = quaternion.rotate(Y_FROM_Z_UP, offsets[roots])
        positions[:, roots] = quaternion.rotate(Y_FROM_Z_UP, positions[:, roots])
        rotations[:, roots] = quaternion.multiply(Y_FROM_Z_UP, rotations[:, roots])

    extra = {"bvh": _bvh_extras(text.joints, names, metres)}
    skeleton = Skeleton(names, parents, offsets * metres, rest_rotations, extra=extra)
    clips = [_clip(text, name, names, positions * metres, rotations, notes)] if text.values.size else []
    return Asset([Character(name, skeleton)], clips, notes=notes)


def _columns(text: BvhText, kind: str) -> dict[int, list[tuple[str, int]]]:
    """Joint -> (axis, column) of its channels of a kind, in the file's order."""
    result: dict[int, list[tuple[str, int]]] = defaultdict(list)
    column = 0
    for number, joint in enumerate(text.joints):
        for axis, channel_kind in joint.channels:
            if channel_kind == kind:
                result[number].append((axis, column))
            column += 1
    return result


def _rotations(text: BvhText) -> Array:
    """(F, J, 4), one batch for each order that occurs."""
    result = quaternion.identity((len(text.values), len(text.joints)))
    radians = np.radians(text.values)
    by_order: dict[str, list[tuple[int, list[int]]]] = defaultdict(list)
    for joint, pairs in _columns(text, "rotation").items():
        by_order["".join(axis for axis, _ in pairs)].append((joint, [column for _, column in pairs]))
    for order, members in by_order.items():
        joints = [joint for joint, _ in members]
        angles = radians[:, np.array([columns for _, columns in members])]  # (F, n, len(order))
        if order in euler.ORDERS:
            result[:, joints] = euler.from_euler(angles, order)
            continue
        turned = quaternion.identity(angles.shape[:2])
        for i, unit in enumerate(np.eye(3)[["XYZ".index(axis) for axis in order]]):
            turned = quaternion.multiply(turned, quaternion.from_rotation_vector(angles[..., i, None] * unit))
        result[:, joints] = turned
    return result


def _positions(text: BvhText, offsets: Array, notes: list[str]) -> Array:
    """(F, J, 3) parent_from_joint translations in the file's unit.

    Position channels replace the OFFSET. A few writers (MakeHuman) mean them to be added to it: that is assumed where
    the positions of the joints below the roots lie nearer to zero than to their offsets.
    """
    result = np.tile(offsets, (len(text.values), 1, 1))
    moved = _columns(text, "position")
    for joint, pairs in moved.items():
        for axis, column in pairs:
            result[:, joint, "XYZ".index(axis)] = text.values[:, column]
    below = [joint for joint in moved if text.joints[joint].parent >= 0]
    if not below or not len(result):
        return result
    from_zero = np.linalg.norm(result[:, below], axis=-1).sum()
    from_offset = np.linalg.norm(result[:, below] - offsets[below], axis=-1).sum()
    if from_zero < 0.5 * from_offset:
        notes.append("the position channels of joints are small and were added to their offsets")
        for joint, pairs in moved.items():
            axes = ["XYZ".index(axis) for axis, _ in pairs]
            result[:, joint, axes] += offsets[joint, axes]
    return result


def _scale(text: BvhText, parents: Array, offsets: Array, scale: float | None, notes: list[str]) -> float:
    if scale is not None:
        return scale
    if text.tail == CENTIMETRE_MARK:
        return 0.01
    ends = {i: np.array(joint.end) for i, joint in enumerate(text.joints) if joint.end is not None}
    height = conventions.body_height(parents, offsets, ends)
    unit = conventions.unit_of_length(height)
    size = f"about {height:.3g} units, {height * unit.metres:.2f} m tall"
    notes.append(f"lengths were taken to be {unit.name}, from the size of the skeleton ({size})")
    return unit.metres


def _stands_along_z(names: tuple[str, ...], parents: Array, offsets: Array, positions: Array, rotations: Array) -> bool:
    rest = _world_positions(parents, offsets[None], quaternion.identity((1, len(parents))))
    if not len(positions):
        return conventions.is_z_up(names, rest[0], rest)
    sampled = np.unique(np.linspace(0, len(positions) - 1, 16).astype(int))
    return conventions.is_z_up(names, rest[0], _world_positions(parents, positions[sampled], rotations[sampled]))


def _world_positions(parents: Array, translations: Array, rotations: Array) -> Array:
    """(F, J, 3) in the world."""
    return kinematics.world_transforms(parents, translations, rotations)[..., :3, 3]


def _bvh_extras(
    joints: tuple[BvhJoint, ...], names: tuple[str, ...], metres: float
) -> dict[str, dict[str, tuple[object, ...]]]:
    """The fields that only BVH has: the End Sites (metres, in the joint's axes) and the channels of each joint."""
    return {
        "ends": {n: tuple(metres * x for x in j.end) for n, j in zip(names, joints) if j.end is not None},
        "channels": {n: tuple(f"{axis}{kind}" for axis, kind in j.channels) for n, j in zip(names, joints)},
    }


def _clip(
    text: BvhText, name: str, names: tuple[str, ...], positions: Array, rotations: Array, notes: list[str]
) -> Clip:
    moved, turned = _columns(text, "position"), _columns(text, "rotation")
    channels = Channels(
        Channel(target, kind)
        for joint, target in enumerate(names)
        for kind, animated in (("translation", moved), ("rotation", turned))
        if joint in animated
    )
    if not channels:
        raise InvalidInput("there are motion values, but neither positions nor rotations")
    values = np.empty((len(text.values), channels.width))
    values[:, channels.columns_of("translation")] = positions[:, sorted(moved)].reshape(len(values), -1)
    values[:, channels.columns_of("rotation")] = rotations[:, sorted(turned)].reshape(len(values), -1)
    if float(text.frame_time) > 0:
        rate = conventions.frame_rate(text.frame_time)
    else:
        rate = DEFAULT_FRAME_RATE
        notes.append(f"the frame time is 0: {rate:g} frames a second were assumed")
    _note_inserted_pose(rotations, notes)
    return Clip(name, channels, values, rate)


def _note_inserted_pose(rotations: Array, notes: list[str]) -> None:
    """CMU files, and others made from them, begin with a T-pose that is no part of the motion."""
    if len(rotations) < 3:
        return
    jump = quaternion.angle_between(rotations[0], rotations[1]).max()
    after = quaternion.angle_between(rotations[1], rotations[2]).max()
    if jump > max(INSERTED_POSE_RAD, 5 * after):
        far = f"frame 0 is {np.degrees(jump):.0f} degrees away from frame 1"
        notes.append(f"{far}: an inserted T-pose, as in CMU files; it was kept")
