"""To a character: a performance as a clip of its shape weights, controls and joints.

Weights go to the shapes that the character's face map names; controls are taken as they are; landmarks are solved for
the weights that move the character's own landmarks the same way (`landmark_solver`). Blinks, gaze, head and speech are
added where the takes do not move them already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import radians

import numpy as np

from understudy.character import Channel, Character, Clip
from understudy.character.rig import LayeredRig, rig_of
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.express.acting.cues import ExpressionTake, parse
from understudy.express.acting.head_joints import find_head_joints, joint_channels
from understudy.express.acting.speech import ACCENT_NOD_RAD, Viseme, accent_curve, add_speech
from understudy.express.face_map import FaceMap, canonical_label, find_face_map, require_targets
from understudy.express.from_clips import HEAD_ANGLE_NAMES, units_of
from understudy.express.landmark_solver import weights_of
from understudy.express.sequence import landmark_number
from understudy.formats.arkit_names import canonical_name

FULL_EYE_LOOK_RAD = (radians(30.0), radians(25.0))  # rotation at weight 1 of ARKit's eyeLook shapes: across, up or down
MIN_EYE_WEIGHT_RANGE = 0.05  # of a weight: takes that move the eyes more than this have their own gaze
OVERLAY_GAZE_RATIO = 0.35  # share of the made gaze that is added to the takes' own: small jumps about it
UNSEEN_SHAPE_PREFIXES = ("eyeLook", "tongue")
ROLL_SIGNS = np.array([1.0, 1.0, -1.0])  # from rolls about z to rolls to the left, and back


def clip_of(
    performance: ExpressionTake,
    character: Character,
    name: str = "express",
    landmarks: Sequence[int] | Array | None = None,
    sounds: Iterable[Viseme | tuple[float, str]] = (),
    priority: float = 0.85,
    angles: bool = False,
    face_map: FaceMap | None = None,
    accents: Sequence[float] = (),
) -> Clip:
    """The performance as a clip of the character; `landmarks` (68,) are its vertices, for graphs of landmarks.

    `sounds` are added to the mouth with `priority`. With `angles` the head is written as Live Link's three angles,
    not as joints. `face_map` names the shapes, instead of their own names. At `accents` (seconds) brows rise and the
    head nods.
    """
    return clip_and_notes(performance, character, name, landmarks, sounds, priority, angles, face_map, accents)[0]


def clip_and_notes(
    performance: ExpressionTake,
    character: Character,
    name: str = "express",
    landmarks: Sequence[int] | Array | None = None,
    sounds: Iterable[Viseme | tuple[float, str]] = (),
    priority: float = 0.85,
    angles: bool = False,
    face_map: FaceMap | None = None,
    accents: Sequence[float] = (),
) -> tuple[Clip, tuple[str, ...]]:
    """As `clip_of`, with a line for each thing that the character cannot show."""
    sounds = list(sounds)
    notes: tuple[str, ...] = ()
    if landmark_number(performance.names[0]) is not None:
        names, values = _solve_shapes(performance, character, landmarks)
    else:
        names, values = performance.names, performance.points[:, :, 0]
    if isinstance(rig_of(character), LayeredRig):
        channels, columns = _clip_of_controls(performance, character, names, values)
    else:
        found = find_face_map(character) if face_map is None else face_map
        sources = _sources(performance, names, values) | label_strengths(performance)
        if sounds or len(accents):
            spoken = add_speech(sources, sounds, performance.rate, priority, accents)
            sources = spoken.expression | spoken.visemes if found.has_visemes else spoken.shapes
        head = _head(performance, names, values)
        head = head + np.outer(accent_curve(accents, performance.times), [0.0, ACCENT_NOD_RAD, 0.0])
        acted = {canonical_name(name) or name for name in names} | set(label_strengths(performance))
        parts, notes = _shape_channels(character, sources, acted, found)
        if not angles:
            joints = find_head_joints(character)
            parts = [*joint_channels(joints, character, head, _eye_angles(sources)), *parts]
            if np.any(head) and not joints.turns:
                notes = (*notes, f"character {character.name!r} has no joint of a head: it stays still")
        channels, columns = [channel for channel, _ in parts], np.concatenate([value for _, value in parts], axis=1)
        if angles:
            channels = [*channels, Channel("", "controls", HEAD_ANGLE_NAMES)]
            columns = np.concatenate([columns, head * ROLL_SIGNS], axis=1)
    labels = dict.fromkeys(
        label for cue in performance.cues for label in (part.partition(":")[0] for part in cue.split("+"))
    )
    return Clip(name, channels, columns, performance.rate, 0.0, tuple(labels), "", performance.moments), notes


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


def _sources(performance: ExpressionTake, names: Sequence[str], values: Array) -> dict[str, Array]:
    """Source -> (F,) weights 0 to 1 of the expression: ARKit's names, or a character's own."""
    weights = {
        canonical_name(name) or name: values[:, i] for i, name in enumerate(names) if name not in HEAD_ANGLE_NAMES
    }
    weights |= _eyes(performance, weights)
    return {name: np.clip(value, 0.0, 1.0) for name, value in weights.items()}


def label_strengths(performance: ExpressionTake) -> dict[str, Array]:
    """Label -> (F,) how much of it the face shows, 0 to 1.

    Between two apexes d_k and d_(k+1) the displacement d is fitted by a d_k + b d_(k+1); a and b are the strengths.
    """
    frames, moved = len(performance), performance.displacements.reshape(len(performance), -1)
    strengths: dict[str, Array] = {}
    previous = np.zeros(moved.shape[1])
    shown: list[dict[str, float]] = []
    for cue in performance.cues:
        asked = parse(cue)
        mix = {asked: 1.0} if isinstance(asked, str) else dict(asked)
        shown.append({label: min(share * performance.intensity, 1.0) for label, share in mix.items()})
    legs = performance.legs.tolist()
    for k in range(len(legs) - 1):
        inside = slice(legs[k], frames if k + 2 == len(legs) else legs[k + 1])
        apex = moved[performance.peaks[k]] if k < len(shown) else np.zeros(moved.shape[1])
        basis = np.stack([previous, apex], axis=1)
        fitted = np.linalg.lstsq(basis, moved[inside].T, rcond=1e-6)[0]
        for share, mix in zip(fitted, (shown[k - 1] if k else {}, shown[k] if k < len(shown) else {})):
            for label, strength in mix.items():
                row = strengths.setdefault(label, np.zeros(frames))
                row[inside] = np.maximum(row[inside], np.clip(share, 0.0, 1.0) * strength)
        previous = apex
    strengths.pop("neutral", None)
    return strengths


def _shape_channels(
    character: Character, sources: dict[str, Array], acted: set[str], found: FaceMap
) -> tuple[list[tuple[Channel, Array]], tuple[str, ...]]:
    """Channels of shape weights with their values (F, n), and notes of what has no shape.

    A character that shows none of the `acted` sources is refused; blinks alone are no performance.
    """
    own = {shape for shapes in character.shapes.values() for shape in shapes}
    named = {canonical_label(source, found.labels): values for source, values in sources.items()}
    shapes = found.weights(named)
    for source, values in named.items():  # shapes of a graph that was made of this character's own
        if source in own and source not in found.targets:
            shapes[("", source)] = np.clip(values, 0.0, 1.0)
    if not acted & own:
        require_targets(found, character, (canonical_label(source, found.labels) for source in acted))
    by_part: dict[str, dict[str, Array]] = {}
    apart = any(part for part, _ in shapes)  # then a shape of every part may meet the same one of a single part
    for (part, shape), values in shapes.items():
        owners = [name for name, names in character.shapes.items() if shape in names] if apart and not part else [part]
        for owner in owners:
            table = by_part.setdefault(owner, {})
            table[shape] = np.clip(table.get(shape, 0.0) + values, 0.0, 1.0)
    parts = [
        (Channel(part, "weights", tuple(table)), np.stack(list(table.values()), axis=1))
        for part, table in by_part.items()
    ]
    return parts, found.notes(character, named)


def _eye_angles(weights: dict[str, Array]) -> Array:
    """(F, 2, 2) radians to the left and up of the left and the right eye, by the weights of ARKit's eyeLook shapes."""
    frames = len(next(iter(weights.values())))
    still = np.zeros(frames)
    angles = np.zeros((frames, 2, 2))
    for number, (side, sign) in enumerate((("Left", 1.0), ("Right", -1.0))):
        out, inwards, up, down = (weights.get(f"eyeLook{way}{side}", still) for way in ("Out", "In", "Up", "Down"))
        angles[:, number] = np.stack([sign * (out - inwards), up - down], axis=1) * FULL_EYE_LOOK_RAD
    return angles


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
