"""Writing BVH: a skeleton and one animation of it.

BVH joints have no rest rotation: at rest their axes are those of the world. With B_j the rest rotation of joint j in
the world, p its parent, q_j its rotation and P_j its position in the world, the same motion in BVH's terms is

    R_j = B_p q_j B_j^-1,        t_j = B_p W_p^-1 (P_j - P_p),        W_p the rotation of p in the world

so that joints keep their positions, also under scaled parents. t_j is written as position channels where it changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from understudy import checks
from understudy.character import Asset, Character, Clip, Curves, Skeleton, kinematics
from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.maths import euler, quaternion

DEFAULT_ROTATION_ORDER = "ZYX"  # for joints without a recorded order

# White space behind the frame time, which other readers ignore, tells our own reader that the unit is the centimetre.
CENTIMETRE_MARK = " \t "

# A joint whose distance to its parent changes by less than this share of the body needs no position channels.
STILL_OFFSET_RATIO = 1e-7


def write(asset: Asset, path: str | Path, order: str = DEFAULT_ROTATION_ORDER) -> list[str]:
    """Write the first character and the first animation in centimetres; returns what BVH could not hold."""
    checks.one_of(order, "rotation order", euler.TAIT_BRYAN)
    notes = ["lengths were written in centimetres"]
    character = asset.character()
    clip = _animation(asset, notes)
    _note_losses(asset, character, clip, notes)
    skeleton = character.skeleton
    rate = clip.rate if clip else 30.0
    translations, rotations, scales = _pose(skeleton, clip)
    offsets, rest_world = _rest(skeleton)
    local_positions, local_rotations = _to_bvh_axes(skeleton, rest_world, translations, rotations, scales)

    size = max(float(np.ptp(np.cumsum(offsets, axis=0), axis=0).max()), 1e-9)
    moves = np.abs(local_positions - offsets).max(axis=(0, 2)) > STILL_OFFSET_RATIO * size
    moves[skeleton.roots] = True
    recorded = skeleton.extra.get("bvh", {})
    for name, channels in recorded.get("channels", {}).items():
        if name in skeleton and any(channel.endswith("position") for channel in channels):
            moves[skeleton.index(name)] = True
    orders = [_order(recorded.get("channels", {}).get(name, ()), order) for name in skeleton.names]
    ends = _ends(skeleton, rest_world, offsets, recorded.get("ends", {}))

    sequence = depth_first(skeleton.parents)
    header = _hierarchy(skeleton, sequence, 100 * offsets, moves, orders, {j: 100 * end for j, end in ends.items()})
    values = _values(sequence, 100 * local_positions, local_rotations, moves, orders)
    timing = f"MOTION\nFrames: {len(values)}\nFrame Time: {1 / rate:.10f}{CENTIMETRE_MARK}\n"
    row = " ".join(["%.6f"] * values.shape[1])
    body = "\n".join(row % tuple(frame) for frame in values.tolist())
    Path(path).write_text(f"{header}{timing}{body}\n", encoding="utf-8", newline="\n")
    return notes


def _animation(asset: Asset, notes: list[str]) -> Clip | None:
    if not asset.animations:
        notes.append("there is no animation: the rest pose was written as one frame")
        return None
    if len(asset.animations) > 1:
        others = join_names(a.name for a in asset.animations[1:])
        notes.append(f"BVH holds one animation: {asset.animations[0].name!r} was written, the others not ({others})")
    animation = asset.animations[0]
    if isinstance(animation, Curves):
        notes.append(f"keyframes were baked at {animation.rate:g} frames a second")
    return animation.clip() if isinstance(animation, Curves) else animation


def _note_losses(asset: Asset, character: Character, clip: Clip | None, notes: list[str]) -> None:
    if len(asset.characters) > 1:
        notes.append(f"BVH holds one character: {character.name!r} was written, {len(asset.characters) - 1} others not")
    if character.parts:
        notes.append(f"BVH holds no meshes: {len(character.parts)} were left out")
    if clip is None:
        return
    lost = sorted({c.kind for c in clip.channels if c.kind in ("weights", "controls", "marker")})
    if lost:
        notes.append(f"BVH holds joints only: channels of {' and '.join(lost)} were left out")
    stray = sorted({c.target for c in clip.channels if c.kind not in lost and c.target not in character.skeleton})
    if stray:
        notes.append(f"channels of targets that are no joints were left out: {join_names(stray)}")
    columns = {c.target: clip.channels.slice(c.target, "scale") for c in clip.channels if c.kind == "scale"}
    scaled = sorted(target for target, part in columns.items() if not np.allclose(clip.values[:, part], 1))
    if scaled:
        notes.append(f"BVH holds no scale; positions of joints are kept, sizes are not: {join_names(scaled)}")
    elif not np.allclose(character.skeleton.scales, 1):
        notes.append("BVH holds no scale; it was worked into the offsets")
    if clip.start:
        notes.append(f"BVH starts at 0 s: the start at {clip.start:g} s was left out")


def _pose(skeleton: Skeleton, clip: Clip | None) -> tuple[Array, Array, Array]:
    """Local translations (F, J, 3), rotations (F, J, 4) and scales (F, J, 3)."""
    frames = len(clip) if clip else 1
    t, q, s = (np.tile(rest, (frames, 1, 1)) for rest in (skeleton.translations, skeleton.rotations, skeleton.scales))
    for channel in clip.channels if clip else ():
        if clip is None or channel.target not in skeleton:
            continue
        joint, values = skeleton.index(channel.target), clip.get(channel.target, channel.kind)
        if values is None:
            continue
        if channel.kind == "translation":
            t[:, joint] = values
        elif channel.kind == "rotation":
            q[:, joint] = values
        elif channel.kind == "scale":
            s[:, joint] = values
        elif channel.kind == "euler":
            q[:, joint] = euler.from_euler(values, "".join(channel.columns))
    return t, q, s


def _world_rotations(parents: Array, rotations: Array) -> Array:
    """(..., J, 4) the product of the rotations from the root down, whatever the scales are."""
    world = np.array(rotations)
    for level in kinematics.levels(parents)[1:]:
        world[..., level, :] = quaternion.multiply(world[..., parents[level], :], world[..., level, :])
    return world


def _rest(skeleton: Skeleton) -> tuple[Array, Array]:
    """Offsets (J, 3) in the axes of the world, and rest rotations B (J, 4) in the world."""
    parents = skeleton.parents
    rest = kinematics.world_transforms(parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    where = rest[..., :3, 3]
    offsets = np.where(parents[:, None] < 0, where, where - where[np.maximum(parents, 0)])
    return offsets, _world_rotations(parents, skeleton.rotations)


def _to_bvh_axes(skeleton: Skeleton, b: Array, t: Array, q: Array, s: Array) -> tuple[Array, Array]:
    """t_j (F, J, 3) and R_j (F, J, 4) of the module's docstring."""
    parents = skeleton.parents
    p = np.maximum(parents, 0)
    below = (parents >= 0)[:, None]
    b_p = np.where(below, b[p], quaternion.IDENTITY)
    r = quaternion.multiply(quaternion.multiply(b_p, q), quaternion.conjugate(b))
    where = kinematics.world_transforms(parents, t, q, s)[..., :3, 3]
    w_p = _world_rotations(parents, q)[:, p]
    turned = quaternion.multiply(b_p, quaternion.conjugate(w_p))
    return np.where(below, quaternion.rotate(turned, where - where[:, p]), where), r


def _order(channels: Iterable[str], default: str) -> str:
    order = "".join(channel[0] for channel in channels if channel.endswith("rotation"))
    return order if order in euler.TAIT_BRYAN else default


def _ends(skeleton: Skeleton, b: Array, offsets: Array, recorded: dict[str, tuple[float, ...]]) -> dict[int, Array]:
    """An End Site for each joint that had one, and for each leaf, which repeats its own offset where none is known."""
    leaves = np.setdiff1d(np.arange(len(skeleton)), skeleton.parents)
    ends = {int(j): (offsets[j] if skeleton.parents[j] >= 0 else np.zeros(3)) for j in leaves}
    for name, end in recorded.items():
        if name in skeleton:
            joint = skeleton.index(name)
            ends[joint] = quaternion.rotate(b[joint], end)
    return ends


def _hierarchy(
    skeleton: Skeleton, sequence: Array, offsets: Array, moves: Array, orders: list[str], ends: dict[int, Array]
) -> str:
    """The HIERARCHY of joints in depth-first sequence; offsets and ends in centimetres."""
    lines = ["HIERARCHY"]
    depth = 0
    levels: dict[int, int] = {-1: -1}
    for joint in [*sequence.tolist(), -1]:
        level = levels[int(skeleton.parents[joint])] + 1 if joint >= 0 else 0
        for closed in range(depth - 1, level - 1, -1):
            lines.append("\t" * closed + "}")
        if joint < 0:
            break
        tab = "\t" * level
        name = " ".join(skeleton.names[joint].replace("{", "(").replace("}", ")").split())
        position = "Xposition Yposition Zposition " if moves[joint] else ""
        turns = " ".join(f"{axis}rotation" for axis in orders[joint])
        lines.append(f"{tab}{'JOINT' if level else 'ROOT'} {name}")
        lines.append(f"{tab}{{\n{tab}\tOFFSET {_numbers(offsets[joint])}")
        lines.append(f"{tab}\tCHANNELS {6 if position else 3} {position}{turns}")
        if joint in ends:
            lines.append(f"{tab}\tEnd Site\n{tab}\t{{\n{tab}\t\tOFFSET {_numbers(ends[joint])}\n{tab}\t}}")
        levels[joint], depth = level, level + 1
    return "\n".join(lines) + "\n"


def _numbers(values: Array) -> str:
    return " ".join(f"{value:.6f}" for value in np.round(values, 6) + 0.0)


def _values(sequence: Array, positions: Array, rotations: Array, moves: Array, orders: list[str]) -> Array:
    """(F, C) centimetres and degrees, angles continuous in time."""
    angles = np.empty((*rotations.shape[:2], 3))
    for order in set(orders):
        members = [j for j, joint_order in enumerate(orders) if joint_order == order]
        angles[:, members] = euler.unroll_euler(euler.to_euler(rotations[:, members], order), order)
    columns = []
    for joint in sequence:
        if moves[joint]:
            columns.append(positions[:, joint])
        columns.append(np.degrees(angles[:, joint]))
    values = np.concatenate(columns, axis=1)
    if not np.isfinite(values).all():
        raise InvalidInput("the animation cannot be written as BVH: some values are not finite")
    return np.round(values, 6) + 0.0  # no -0.000000
