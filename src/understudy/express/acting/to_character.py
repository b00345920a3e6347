"""To a character: a performance as a clip of its shape weights, controls and joints.

Weights and controls are taken as they are; landmarks are solved for the weights that move the character's own landmarks
the same way (`landmark_solver`). Blinks, gaze, head and speech are added where the takes do not move them already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import radians

import numpy as np

from understudy.character import Channel, Character, Clip, kinematics
from understudy.character.rig import LayeredRig, rig_of
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.express.acting.cues import ExpressionTake
from understudy.express.acting.life import Viseme, add_speech
from understudy.express.from_clips import HEAD_ANGLE_NAMES, HEAD_JOINTS, units_of
from understudy.express.landmark_solver import weights_of
from understudy.express.regions import landmark_number
from understudy.formats.arkit_names import canonical_name
from understudy.maths import quaternion

FULL_EYE_LOOK_RAD = (radians(30.0), radians(25.0))  # rotation at weight 1 of ARKit's eyeLook shapes: across, up or down
MIN_EYE_WEIGHT_RANGE = 0.05  # of a weight: takes that move the eyes more than this have their own gaze
OVERLAY_GAZE_RATIO = 0.35  # share of the made gaze that is added to the takes' own: small jumps about it
UNSEEN_SHAPE_PREFIXES = ("eyeLook", "tongue")
ROLL_SIGNS = np.array([1.0, 1.0, -1.0])  # from rolls about z to rolls to the left, and back
NECK_JOINTS = ("Neck", "neck")
HEAD_NECK_SHARES = (0.6, 0.4)  # of a rotation, for head and neck


def clip_of(
    performance: ExpressionTake,
    character: Character,
    name: str = "express",
    landmarks: Sequence[int] | Array | None = None,
    sounds: Iterable[Viseme | tuple[float, str]] = (),
    priority: float = 0.85,
    angles: bool = False,
) -> Clip:
    """The performance as a clip of the character; `landmarks` (68,) are its vertices, for graphs of landmarks.

    `sounds` are added to the mouth with `priority`. With `angles` the head is written as Live Link's three angles,
    not as joints.
    """
    sounds = list(sounds)
    if landmark_number(performance.names[0]) is not None:
        names, values = _solve_shapes(performance, character, landmarks)
    else:
        names, values = performance.names, performance.points[:, :, 0]
    if isinstance(rig_of(character), LayeredRig):
        channels, columns = _clip_of_controls(performance, character, names, values)
    else:
        head = _head(performance, names, values)
        channels, columns = _clip_of_shapes(performance, character, names, values, sounds, priority)
        rotations = {} if angles else _joint_rotations(head, character)
        channels = [*(Channel(joint, "rotation") for joint in rotations), *channels]
        columns = np.concatenate([*rotations.values(), columns], axis=1)
        if angles:
            channels = [*channels, Channel("", "controls", HEAD_ANGLE_NAMES)]
            columns = np.concatenate([columns, head * ROLL_SIGNS], axis=1)
    labels = dict.fromkeys(
        label for cue in performance.cues for label in (part.partition(":")[0] for part in cue.split("+"))
    )
    return Clip(name, channels, columns, performance.rate, 0.0, tuple(labels), "", performance.moments)


def _solve_shapes(
    performance: ExpressionTake, character: Character, landmarks: Sequence[int] | Array | None
) -> tuple[tuple[str, ...], Array]:
    """Names (S,) and weights (F, S) of the shapes that follow the performance's landmarks."""
    if landmarks is None:
        raise InvalidInput(
            f"a graph of landmarks needs the vertices of character {character.name!r} that they stand for; "
            "give landmarks, or build the graph of weights"
        )
    solvable = [shape for shapes in character.shapes.values() for shape in shapes if not _is_unseen(shape)]
    numbers = [landmark_number(landmark) or 0 for landmark in performance.names]
    clip = weights_of(
        character,
        performance.points,
        np.asarray(landmarks)[numbers],
        performance.rate,
        neutral=performance.base,
        names=performance.names,
        shapes=list(dict.fromkeys(solvable)),
    )
    columns = [column for channel in clip.channels for column in channel.columns]
    return tuple(columns), np.array(clip.values)


def _is_unseen(shape: str) -> bool:
    """Whether landmarks do not determine a shape: eyes that turn and a tongue move lids and lips only a little."""
    return (canonical_name(shape) or shape).startswith(UNSEEN_SHAPE_PREFIXES)


def _clip_of_controls(
    performance: ExpressionTake, character: Character, names: Sequence[str], values: Array
) -> tuple[list[Channel], Array]:
    rig = rig_of(character)
    assert isinstance(rig, LayeredRig)
    controls = rig.controls
    missing = [name for name in names if name not in controls]
    if missing:
        raise InvalidInput(f"character {character.name!r} has no control {join_names(missing)}, which the graph moves")
    columns = {name: values[:, i] * unit for i, (name, unit) in enumerate(zip(names, units_of(rig, names)))}
    for side in ("L", "R"):
        lid = f"lids.blink.{side}"
        if lid in controls:
            columns[lid] = _shut(columns.get(lid, np.zeros(len(values))), performance.blink)
    for control, angle in (("eyes.x", performance.gaze[:, 0]), ("eyes.y", performance.gaze[:, 1])):
        if control in controls and control not in columns:
            columns[control] = np.degrees(angle)
    for control, angle in zip(("head.turn", "head.nod", "head.roll"), performance.head.T * [[1.0], [-1.0], [1.0]]):
        if control in controls and control not in columns:
            columns[control] = np.degrees(angle)
    low, high = controls.low, controls.high
    clamped = [np.clip(v, low[controls.index(n)], high[controls.index(n)]) for n, v in columns.items()]
    return [Channel(name, "controls", ("value",)) for name in columns], np.stack(clamped, axis=1)


def _clip_of_shapes(
    performance: ExpressionTake,
    character: Character,
    names: Sequence[str],
    values: Array,
    sounds: list[Viseme | tuple[float, str]],
    priority: float,
) -> tuple[list[Channel], Array]:
    known = {canonical_name(shape) or shape for shapes in character.shapes.values() for shape in shapes}
    fitting = [i for i, name in enumerate(names) if name in known]
    if not fitting:
        raise InvalidInput(
            f"character {character.name!r} has none of the shapes that the graph moves: "
            f"it has {join_names(sorted(known)) or 'none'}, the graph {join_names(names)}"
        )
    weights = {names[i]: values[:, i] for i in fitting}
    for name, added in _eyes(performance, weights).items():
        if name in known:
            weights[name] = added
    for name in sorted(known) if sounds else ():
        if name.startswith(("mouth", "jaw", "tongue")):
            weights.setdefault(name, np.zeros(len(values)))
    columns = np.clip(np.stack(list(weights.values()), axis=1), 0.0, 1.0)
    if sounds:
        columns = add_speech(columns, list(weights), sounds, performance.rate, priority)
    spelt = {canonical_name(shape) or shape: shape for shapes in character.shapes.values() for shape in shapes}
    return [Channel("", "weights", tuple(spelt[name] for name in weights))], columns


def _head(performance: ExpressionTake, names: Sequence[str], values: Array) -> Array:
    """(F, 3) radians: the head of the takes, or the one made by `life`."""
    places = {name: i for i, name in enumerate(names)}
    if not set(HEAD_ANGLE_NAMES) <= places.keys():
        return performance.head
    return values[:, [places[name] for name in HEAD_ANGLE_NAMES]] * ROLL_SIGNS


def _eyes(performance: ExpressionTake, weights: dict[str, Array]) -> dict[str, Array]:
    """ARKit weights of lids and eyes with blinks and gaze added to those of the takes."""
    still = np.zeros(len(performance))
    result = {}
    for side in ("Left", "Right"):
        result[f"eyeBlink{side}"] = _shut(weights.get(f"eyeBlink{side}", still), performance.blink)
        if f"eyeWide{side}" in weights:
            result[f"eyeWide{side}"] = weights[f"eyeWide{side}"] * (1.0 - performance.blink)
    moved = any(np.ptp(value) > MIN_EYE_WEIGHT_RANGE for name, value in weights.items() if name.startswith("eyeLook"))
    left, up = (OVERLAY_GAZE_RATIO if moved else 1.0) * performance.gaze.T / np.array(FULL_EYE_LOOK_RAD)[:, None]
    for side, outwards in (("Left", left), ("Right", -left)):
        for plus, minus, added in (("Out", "In", outwards), ("Up", "Down", up)):
            names = f"eyeLook{plus}{side}", f"eyeLook{minus}{side}"
            looks = weights.get(names[0], still) - weights.get(names[1], still) + added
            result[names[0]], result[names[1]] = np.maximum(looks, 0), np.maximum(-looks, 0)
    return result


def _shut(lid: Array, blink: Array) -> Array:
    """A lid, 0 open to 1 shut, that a blink shuts the rest of the way."""
    shut: Array = lid + (1.0 - lid) * blink
    return shut


def _joint_rotations(angles: Array, character: Character) -> dict[str, Array]:
    """Joint -> (F, 4) rotations of head and neck for angles (F, 3), where the character has such joints."""
    skeleton = character.skeleton
    if not np.any(angles):
        return {}
    head = next((name for name in HEAD_JOINTS if name in skeleton), None)
    neck = next((name for name in NECK_JOINTS if name in skeleton), None)
    joints = [joint for joint in (head, neck) if joint is not None]
    shares = (1.0,) if len(joints) == 1 else HEAD_NECK_SHARES
    worlds = kinematics.world_transforms(
        skeleton.parents, skeleton.translations[None], skeleton.rotations[None], skeleton.scales[None]
    )[0]
    result = {}
    for joint, share in zip(joints, shares):
        number = skeleton.index(joint)
        axes = worlds[number, :3, :3] / np.linalg.norm(worlds[number, :3, :3], axis=0)
        turn = angles * share
        world = quaternion.identity((len(turn),))
        for angle, axis in zip(turn.T, ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0])):
            local = np.asarray(axis) @ axes  # the world's axis as the joint sees it
            half = 0.5 * angle[:, None]
            world = quaternion.multiply(world, np.concatenate([np.sin(half) * local, np.cos(half)], axis=1))
        result[joint] = quaternion.multiply(np.broadcast_to(skeleton.rotations[number], world.shape), world)
    return result
