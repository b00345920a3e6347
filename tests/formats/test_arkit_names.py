"""The ARKit 52 and their spellings."""

from __future__ import annotations

import numpy as np
from tests.data_folder import field_file

import understudy as us
from understudy.character import Character
from understudy.character.asset import Avatar, Expression, ShapeBind
from understudy.formats.arkit_names import (
    ANGLE_NAMES,
    PRESETS,
    SHAPE_NAMES,
    VISEMES,
    canonical_name,
    face_weights,
)


def test_fifty_two_weights_and_nine_angles():
    assert len(SHAPE_NAMES) == len(set(SHAPE_NAMES)) == 52
    assert len(ANGLE_NAMES) == 9 and ANGLE_NAMES[0] == "HeadYaw"
    assert sum(name.endswith("Left") for name in SHAPE_NAMES) == sum(name.endswith("Right") for name in SHAPE_NAMES)


def test_any_case_and_separator():
    spellings = {}
    for name in (*SHAPE_NAMES, *ANGLE_NAMES):
        for spelling in (name, name.upper(), name[0].upper() + name[1:], f" {name} ", f"face.{name}", f"rig:{name}"):
            spellings[spelling] = name
    for name in SHAPE_NAMES:
        for side, letter in (("Left", "L"), ("Right", "R")):
            if name.endswith(side):
                spellings[name.removesuffix(side) + "_" + letter] = name
    assert {spelling: canonical_name(spelling) for spelling in spellings} == spellings
    assert len(spellings) > 6 * 52


def test_others_are_none():
    others = ("", "smile", "eyeBlink", "Pitch", "x_0", "AU01", "_neutral", "Neutral")
    assert {name: canonical_name(name) for name in others} == dict.fromkeys(others)


def weights_by_shape(character, names, strengths):
    found = face_weights(character, names, strengths)
    columns = [column for channel in found.channels for column in channel.columns]
    return {c: round(v, 9) for c, v in zip(columns, found.values[0].tolist()) if abs(v) > 1e-9}, found.unused


def avatar_of(*expressions):
    """A head with a shape for each expression."""
    face = us.load("face").character()
    part = face.parts[0]
    shapes = part.mesh.shapes
    names = [bind.shape for e in expressions for bind in e.shapes]
    assert set(names) <= set(shapes.names)
    return Character("head", face.skeleton, [part], avatar=Avatar("1.0", {}, expressions))


def test_tables_use_names_that_arkit_has():
    for table in (PRESETS, VISEMES):
        for name, weights in table.items():
            assert set(weights) <= set(SHAPE_NAMES), name


def test_a_face_with_arkit_shapes_answers_every_vocabulary():
    face = us.load("face").character()
    for names in (SHAPE_NAMES, tuple(PRESETS), tuple(v for v in VISEMES if v != "sil"), ("viseme_PP", "Viseme.aa")):
        for name in names:
            moved, unused = weights_by_shape(face, [name], [[1.0]])
            meaning = {name: 1.0} if name in SHAPE_NAMES else PRESETS.get(name) or VISEMES.get(name)
            assert not unused and (meaning is None or moved == meaning), name


def test_expressions_of_an_avatar_answer_arkit_names():
    part = next(iter(us.load("face").character().shapes))
    head = avatar_of(
        Expression("happy", (ShapeBind(part, "mouthSmileLeft", 0.5),)),
        Expression("aa", (ShapeBind(part, "mouthFunnel", 1.0),)),
    )
    # a face without ARKit's own shapes: only what the expressions bind
    assert weights_by_shape(head, ["happy"], [[1.0]])[0] == {"mouthSmileLeft": 0.5}
    godette = us.load(field_file("vrm/Godette.vrm")).character()
    moved, unused = weights_by_shape(godette, ["eyeBlinkLeft", "eyeBlinkRight"], [[0.4, 0.4]])
    assert not unused and moved == {"blink_left": 0.4, "blink_right": 0.4}
    assert set(weights_by_shape(godette, ["eyeBlink_L"], [[1.0]])[0]) == {"blink_left"}
    moved, unused = weights_by_shape(godette, ["jawOpen", "tongueOut"], [[0.5, 1.0]])
    assert max(moved, key=moved.get) == "ah" and unused == ("tongueOut",)
    aim, _ = weights_by_shape(godette, ["ou", "lookLeft"], [[0.7, 0.3]])
    assert aim == {"uu": 0.7, "look_left": 0.3}


def test_a_blink_is_taken_back_by_an_expression_that_overrides_it():
    part = next(iter(us.load("face").character().shapes))
    blink = Expression("blink", (ShapeBind(part, "eyeBlinkLeft", 1.0),))
    for overrides, left in (
        ({}, 1.0),
        ({"blink": "blend"}, 0.75),
        ({"blink": "block"}, 0.0),
        ({"mouth": "block"}, 1.0),
    ):
        happy = Expression("happy", (ShapeBind(part, "mouthSmileLeft", 1.0),), overrides=overrides)
        moved, _ = weights_by_shape(avatar_of(happy, blink), ["happy", "blink"], [[0.25, 1.0]])
        assert moved.get("eyeBlinkLeft", 0.0) == left, overrides


def test_many_frames_are_those_frames_alone():
    godette = us.load(field_file("vrm/Godette.vrm")).character()
    strengths = np.random.default_rng(3).random((20, len(SHAPE_NAMES)))
    whole = face_weights(godette, SHAPE_NAMES, strengths).values
    assert all(
        np.array_equal(whole[i], face_weights(godette, SHAPE_NAMES, strengths[i : i + 1]).values[0]) for i in range(20)
    )
    assert whole.min() >= 0 and whole.max() <= 1
