from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.express.heads import avatar_head, named_head

from understudy import cast
from understudy.character import Character, Mesh, Part, Shapes, SkinBinding
from understudy.errors import BadFile, InvalidInput
from understudy.express.face_map import FaceMap, canonical_label, find_face_map, read_face_map, require_targets
from understudy.express.shape_places import match_by_place
from understudy.formats.arkit_names import SHAPE_NAMES


def shapes_of(found: FaceMap, source: str) -> dict[str, float]:
    return {bind.shape: bind.weight for bind in found.targets.get(source, ())}


def test_arkit_in_other_spellings_and_split_sides() -> None:
    found = find_face_map(named_head("Face.M.eyeBlink_L", "JawOpen", "browInnerUp_L", "browInnerUp_R", "cheekPuff"))
    assert shapes_of(found, "eyeBlinkLeft") == {"Face.M.eyeBlink_L": 1.0}
    assert shapes_of(found, "browInnerUp") == {"browInnerUp_L": 1.0, "browInnerUp_R": 1.0}
    assert set(found.reasons.values()) == {"name"}


def test_ready_player_me_without_arkit() -> None:
    found = find_face_map(named_head("mouthOpen", "mouthSmile", "eyesClosed", "viseme_PP", "viseme_O"))
    assert shapes_of(found, "jawOpen") == {"mouthOpen": 1.0}
    assert shapes_of(found, "mouthSmileLeft") == {"mouthSmile": 0.5} == shapes_of(found, "mouthSmileRight")
    assert shapes_of(found, "viseme_PP") == {"viseme_PP": 1.0} and shapes_of(found, "viseme_oh") == {"viseme_O": 1.0}
    both = found.weights({"eyeBlinkLeft": np.ones(2), "eyeBlinkRight": np.ones(2)})
    assert np.allclose(both[("", "eyesClosed")], 1.0)


def test_ready_player_me_with_arkit_keeps_the_exact_shapes() -> None:
    found = find_face_map(named_head(*SHAPE_NAMES, "mouthOpen", "mouthSmile", "viseme_aa"))
    used = {bind.shape for binds in found.targets.values() for bind in binds}
    assert used == set(SHAPE_NAMES)


def test_vroid_names() -> None:
    found = find_face_map(
        named_head("Fcl_ALL_Joy", "Fcl_ALL_Angry", "Fcl_EYE_Close", "Fcl_EYE_Close_L", "Fcl_BRW_Angry", "Fcl_MTH_A")
    )
    assert shapes_of(found, "happiness") == {"Fcl_ALL_Joy": 1.0} and shapes_of(found, "anger") == {"Fcl_ALL_Angry": 1.0}
    assert shapes_of(found, "eyeBlinkLeft") == {"Fcl_EYE_Close_L": 1.0}
    assert shapes_of(found, "eyeBlinkRight") == {"Fcl_EYE_Close": 0.5}
    assert shapes_of(found, "browDownLeft") == {"Fcl_BRW_Angry": 0.5}
    assert shapes_of(found, "viseme_aa") == {"Fcl_MTH_A": 1.0}


def test_expressions_of_an_avatar_come_before_shapes() -> None:
    found = find_face_map(avatar_head())
    assert shapes_of(found, "anger") == {"brow_a": 1.0, "lip_b": 0.25}
    assert shapes_of(found, "eyeBlinkLeft") == {"wink_c": 0.5}
    assert shapes_of(found, "disgust") == {"brow_a": 0.6, "lip_b": 0.15} and found.reasons["disgust"].startswith("near")


def test_a_whole_expression_replaces_coarse_shapes_and_leaves_blinks() -> None:
    found = find_face_map(named_head("Angry", "mouthOpen", "blink"))
    jaw = {"jawOpen": np.full(2, 0.8), "eyeBlinkLeft": np.ones(2), "anger": np.array([0.0, 1.0])}
    weights = found.weights(jaw)
    assert np.allclose(weights[("", "mouthOpen")], [0.8, 0.0]) and np.allclose(weights[("", "blink")], 0.5)
    assert np.allclose(weights[("", "Angry")], [0.0, 1.0])


def test_notes_say_what_is_lost() -> None:
    head = named_head("jawOpen", "mouthSmile_L")
    found = find_face_map(head)
    moving = {name: np.array([0.0, 1.0]) for name in ("jawOpen", "mouthSmileLeft", "mouthSmileRight", "browInnerUp")}
    (note,) = found.notes(head, moving)
    assert "'mouthSmileRight', 'browInnerUp'" in note and "brows do not move; lips move less" in note
    assert not found.notes(head, {"jawOpen": np.array([0.0, 1.0]), "browInnerUp": np.zeros(2)})


def test_a_map_survives_its_file(tmp_path: Path) -> None:
    head = avatar_head()
    found = find_face_map(head)
    (tmp_path / "map.toml").write_text(found.text(head))
    again = read_face_map(tmp_path / "map.toml", head)
    assert dict(again.targets) == dict(found.targets)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("jawOpen = 3", "a shape, or shapes with weights"),
        ('jawOpen = "gape"', "has no shape 'gape'; available: 'brow_a', 'lip_b', 'wink_c'"),
        ("jawOpen = ", "is not TOML"),
        ("# nothing", "maps no source"),
    ],
)
def test_a_map_with_a_mistake(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "map.toml").write_text(text)
    with pytest.raises(BadFile, match=sentence):
        read_face_map(tmp_path / "map.toml", avatar_head())


def test_nothing_to_show_is_refused_with_a_way_out() -> None:
    head = named_head("a1", "b1")
    with pytest.raises(InvalidInput, match=r"none of the shapes that the graph moves.*express map"):
        require_targets(find_face_map(head), head, ["jawOpen"])


def test_synonyms() -> None:
    assert canonical_label("joy", ("happiness", "fear")) == "happiness"
    assert canonical_label("happiness", ("happy",)) == "happy"
    assert canonical_label("zest", ("happy",)) == "zest"


def test_shapes_without_telling_names_are_known_by_their_place() -> None:
    """The built-in face, wider and lower, its shapes shuffled and called t0 to t51."""
    face = cast.load("face").characters[0]
    names = list(dict.fromkeys(name for shapes in face.shapes.values() for name in shapes))
    order = np.random.default_rng(3).permutation(len(names))
    called = {names[j]: f"t{i}" for i, j in enumerate(order)}
    parts = []
    for part in face.parts:
        mesh, own = part.mesh, part.mesh.shapes
        if own is None:
            continue
        stretch = np.array([1.2, 0.9, 1.0], np.float32)
        shapes = Shapes([called[n] for n in own.names], own.deltas * stretch, None, None, own.shape_of, own.stop_of)
        wide = Mesh(mesh.name, mesh.vertices * stretch, mesh.triangles, shapes=shapes)
        parts.append(Part(part.name, wide, SkinBinding.rigid(0, len(wide.vertices))))
    stranger = Character("stranger", face.skeleton, parts)
    found = match_by_place(stranger, face, find_face_map(stranger))
    right = sum(shapes_of(found, name) == {called[name]: 1.0} for name in names)
    assert right >= 48, "of 52"
    assert set(found.reasons.values()) == {"place"}
