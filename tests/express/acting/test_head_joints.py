from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import field_file
from tests.express.acting.puppet import puppet
from tests.express.heads import named_head, scattered_head

import understudy as us
from understudy.character import Character, Clip, rig
from understudy.express.acting.head_joints import find_head_joints, joint_channels


def pose(character: Character, head: list[float], gaze: list[list[float]] | None = None) -> np.ndarray:
    """(V, 3) vertices of the character with its head and eyes turned."""
    eyes = np.zeros((2, 2, 2)) if gaze is None else np.tile(np.array(gaze), (2, 1, 1))
    parts = joint_channels(find_head_joints(character), character, np.tile(head, (2, 1)), eyes)
    clip = Clip("turn", [c for c, _ in parts], np.concatenate([v for _, v in parts], axis=1), 30.0)
    posed = rig.rig_of(character)
    return posed.vertices(posed.pose(clip))[1]


def rest(character: Character) -> np.ndarray:
    posed = rig.rig_of(character)
    return posed.vertices(posed.rest[None])[0]


def rigid_error(before: np.ndarray, after: np.ndarray) -> float:
    """The largest change of a distance between two points."""
    return float(np.abs(_distances(before) - _distances(after)).max())


def _distances(points: np.ndarray) -> np.ndarray:
    points = points[:: max(len(points) // 200, 1)].astype(float)
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_all_meshes_of_a_head_turn_together() -> None:
    head = scattered_head()
    turned = pose(head, [0.4, 0.2, -0.1])
    assert rigid_error(rest(head), turned) < 1e-5
    assert np.abs(turned - rest(head)).max() > 0.2


def test_eye_joints_aim_whatever_side_their_names_say() -> None:
    head = scattered_head()
    turned = pose(head, [0, 0, 0], [[0.3, 0.0], [0.0, 0.0]])  # the left eye to the left
    moved = np.abs(turned - rest(head)).max(axis=1) > 1e-6
    assert moved.sum() == 8 and rest(head)[moved][:, 0].mean() > 0.2, "the eye at +x, which is called eyeRight"


@pytest.mark.parametrize("angles", [[0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.3]])
def test_turn_nod_and_roll_go_the_way_they_say(angles: list[float]) -> None:
    head = scattered_head()
    before, after = rest(head), pose(head, angles)
    nose = np.argmax(before[:, 2] - 0.1 * np.abs(before[:, 0]))
    crown = np.argmax(before[:, 1])
    if angles[0]:
        assert after[nose, 0] > before[nose, 0], "to its left, +x"
    elif angles[1]:
        assert after[nose, 1] < before[nose, 1], "down"
    else:
        assert after[crown, 0] > before[crown, 0] - 1e-6 and after[crown, 1] != before[crown, 1]


def test_a_body_stays_while_the_head_turns() -> None:
    character = puppet().character()
    found = find_head_joints(character)
    assert {character.skeleton.names[joint] for joint in found.turns} == {"Head", "Neck"}
    assert not found.eyes


def test_the_head_joint_is_its_own_pivot() -> None:
    character = named_head("jawOpen")
    parts = joint_channels(find_head_joints(character), character, np.full((2, 3), 0.2), np.zeros((2, 2, 2)))
    assert [channel.kind for channel, _ in parts] == ["rotation"]


def test_the_three_js_face_stays_whole() -> None:
    """Eyes and teeth of facecap are neighbours of its head mesh."""
    character = us.load(field_file("glb/facecap.glb")).character()
    turned = pose(character, [0.2, 0.1, 0.1])
    assert rigid_error(rest(character), turned) < 1e-4
    assert len(find_head_joints(character).eyes) == 2
