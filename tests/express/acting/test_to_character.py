from __future__ import annotations

import numpy as np
import pytest
from tests.express.acting.puppet import puppet
from tests.express.heads import named_head

from understudy import cast
from understudy.character import rig
from understudy.character.asset import ShapeBind
from understudy.errors import InvalidInput
from understudy.express.acting import act, clip_of
from understudy.express.acting.cues import ExpressionTake
from understudy.express.acting.to_character import clip_and_notes, label_strengths
from understudy.express.face_map import FaceMap
from understudy.express.from_clips import sequences_of
from understudy.express.graph.coupling import Coupling
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.graph.graph_builder import build
from understudy.express.landmark_solver import basis_of
from understudy.express.sequence import landmark_names

WANTED = {"mouth": ["jawOpen", "mouthSmileLeft"], "brows": ["browInnerUp"]}


def graph_of(heads: bool) -> ExpressionGraph:
    asset = puppet(heads)
    takes = sequences_of(rig.rig_of(asset.character()), asset.clips)
    regions = WANTED | ({"head": ["Head*"]} if heads else {})
    return build(takes, compression=0.3, tolerance=0.3, merge_compression=0.3, merge_tolerance=0.3, regions=regions)


def test_weights_go_to_the_shapes_whatever_their_spelling() -> None:
    graph, character = graph_of(True), puppet().character()
    done = act(graph, ["shocked", "happy"], seed=1)
    clip = clip_of(done, character)
    found = rig.rig_of(character)
    rows = found.pose(clip)
    smile = found.channels.names.index("face.weights.mouthSmile_L")
    assert np.allclose(rows[:, smile], np.clip(done.points[:, 1, 0], 0, 1))
    assert clip.labels == ("shocked", "happy") and set(clip.moments) == {"shocked", "happy"}
    assert clip.moments["happy"] == done.peaks[1] / done.rate


def test_the_takes_own_head_is_shared_by_neck_and_head() -> None:
    graph, character = graph_of(True), puppet().character()
    done = act(graph, ["shocked"], seed=2, coupling=1.0)
    found = rig.rig_of(character)
    world = found.joints(found.pose(clip_of(done, character)))[:, 2, :3, :3]
    yaw = done.points[:, done.names.index("HeadYaw"), 0]
    assert np.allclose(np.arctan2(world[:, 0, 2], world[:, 2, 2]), yaw, atol=1e-6)


def test_a_head_is_made_up_where_the_takes_have_none() -> None:
    graph, character = graph_of(False), puppet().character()
    clip = clip_of(act(graph, ["shocked"], seed=2), character)
    assert {channel.target for channel in clip.channels if channel.kind == "rotation"} == {"Head", "Neck"}
    still = clip_of(act(graph, ["shocked"], seed=2, life=0.0), character)
    assert all(channel.kind == "weights" for channel in still.channels)


def test_blinks_and_gaze_are_laid_over() -> None:
    graph, character = graph_of(False), puppet().character()
    done = next(d for d in (act(graph, ["happy"], seed=s, hold=3.0) for s in range(20)) if d.blink.max() > 0.9)
    clip = clip_of(done, character)
    weights = clip.channels[-1].columns
    values = clip.get("", "weights")
    assert values is not None
    assert np.allclose(values[:, weights.index("eyeBlinkLeft")], done.blink)
    look = values[:, weights.index("eyeLookOutLeft")] - values[:, weights.index("eyeLookInLeft")]
    assert np.allclose(look, np.clip(done.gaze[:, 0] / np.radians(30), -1, 1), atol=1e-9)


def test_live_link_gets_angles_for_joints() -> None:
    clip = clip_of(act(graph_of(True), ["happy"], seed=1), puppet().character(), angles=True)
    assert [channel.kind for channel in clip.channels] == ["weights", "controls"]


def test_speech_is_laid_over_the_mouth() -> None:
    graph, character = graph_of(False), puppet().character()
    done = act(graph, ["happy"], seed=1)
    plain, said = (clip_of(done, character, sounds=sounds) for sounds in ((), [(0.3, "aa"), (0.6, "sil")]))
    at = plain.channels[-1].columns.index("jawOpen"), said.channels[-1].columns.index("jawOpen")
    gap = np.abs(plain.values[:, at[0] - len(plain.channels[-1])] - said.values[:, at[1] - len(said.channels[-1])])
    assert gap[: int(0.2 * done.rate)].max() < 1e-6 and gap.max() > 0.2


def test_a_character_without_the_shapes_is_refused() -> None:
    graph = graph_of(False)
    done = act(graph, ["happy"])
    other = puppet().character()
    strange = type(done)(**{**{k: getattr(done, k) for k in done.__dataclass_fields__}, "names": ("a", "b", "c")})
    with pytest.raises(InvalidInput, match="'puppet' has none of the shapes that the graph moves"):
        clip_of(strange, other)


def test_landmarks_need_their_vertices() -> None:
    asset = puppet(heads=False)
    found = rig.rig_of(asset.character())
    takes = sequences_of(found, asset.clips, range(12))
    regions = {"all": [f"lm{n:02d}" for n in range(12)]}
    graph = build(takes, compression=0.3, tolerance=0.3, merge_compression=0.3, merge_tolerance=0.3, regions=regions)
    assert isinstance(graph.coupling, Coupling)
    done = act(graph, ["shocked"], seed=1, life=0.0, coupling=1.0)
    with pytest.raises(InvalidInput, match="needs the vertices of character 'puppet'"):
        clip_of(done, asset.character())
    clip = clip_of(done, asset.character(), landmarks=np.arange(68) % 12)
    posed = found.vertices(found.pose(clip))
    wanted = done.displacements[done.peaks[0]]
    assert np.linalg.norm(posed[done.peaks[0]] - posed[0] - wanted) < 0.35 * np.linalg.norm(wanted)


def test_a_shut_eye_is_a_shut_eye_on_a_face_with_larger_eyes() -> None:
    """Landmarks of a person whose eyes are half as high: their way is short, and yet shuts the eyes of the face."""
    character = cast.load("face").characters[0]
    basis = basis_of(character, cast.FACE_LANDMARKS)
    shut = sum(basis.deltas[basis.names.index(f"eyeBlink{side}")] for side in ("Left", "Right"))
    base, moved = np.array(basis.rest), np.array(shut)
    for eye in (slice(36, 42), slice(42, 48)):
        base[eye, 1] = base[eye, 1].mean() + 0.5 * (base[eye, 1] - base[eye, 1].mean())
        moved[eye, 1] *= 0.5
    none = np.zeros(2)
    done = ExpressionTake(
        points=np.stack([base, base + moved]),
        rate=30.0,
        names=landmark_names(),
        cues=("asleep",),
        peaks=np.array([1]),
        legs=np.array([0, 1]),
        base=base,
        blink=none,
        gaze=np.zeros((2, 2)),
        head=np.zeros((2, 3)),
    )
    clip = clip_of(done, character, landmarks=cast.FACE_LANDMARKS)
    weights = dict(zip(clip.channels[-1].columns, clip.values[1, -len(clip.channels[-1]) :]))
    assert min(weights["eyeBlinkLeft"], weights["eyeBlinkRight"]) > 0.75


def test_labels_go_to_whole_expressions_with_the_graphs_own_timing() -> None:
    """A robot with nothing but `Angry`-like shapes shows the label as far as the graph has come."""
    graph, robot = graph_of(False), named_head("Happy", "Shocked")
    done = act(graph, ["shocked", "happy"], seed=1, life=0.0)
    strengths = label_strengths(done)
    clip, notes = clip_and_notes(done, robot)
    values = dict(zip(clip.channels[-1].columns, clip.values[:, -2:].T))
    assert np.allclose(values["Shocked"], strengths["shocked"]) and np.allclose(values["Happy"], strengths["happy"])
    assert strengths["shocked"][done.peaks[0]] > 0.9 > 0.2 > strengths["shocked"][done.peaks[1]]
    assert strengths["happy"][done.peaks[1]] > 0.9 and strengths["happy"][-1] < 0.05
    assert np.abs(np.diff(strengths["happy"])).max() < 0.35, "no jump where the legs meet"
    assert "'jawOpen'" in notes[0] and "whole expressions" in notes[1]


def test_a_face_map_of_a_file_decides() -> None:
    graph, head = graph_of(False), named_head("gape", "rest_of_it")
    done = act(graph, ["shocked"], seed=1, life=0.0)
    chosen = FaceMap({"jawOpen": (ShapeBind("", "gape", 0.5),)})
    clip = clip_of(done, head, face_map=chosen)
    assert clip.channels[-1].columns == ("gape",)
    assert np.allclose(clip.values[:, -1], 0.5 * np.clip(done.points[:, done.names.index("jawOpen"), 0], 0, 1))


def test_a_face_with_visemes_of_its_own_speaks_by_them() -> None:
    graph, head = graph_of(False), named_head("Happy", "mouthOpen", "viseme_aa", "viseme_PP")
    done = act(graph, ["happy"], seed=1)
    clip = clip_of(done, head, sounds=[(0.3, "aa"), (0.6, "PP"), (0.7, "sil")])
    values = dict(zip(clip.channels[-1].columns, clip.values[:, -len(clip.channels[-1].columns) :].T))
    assert values["viseme_aa"][int(0.45 * done.rate)] > 0.6 and values["viseme_PP"].max() > 0.3
    assert values["viseme_aa"][-1] < 1e-3


def test_accents_nod_the_head_and_raise_the_brows() -> None:
    graph, character = graph_of(False), puppet().character()
    done = act(graph, ["happy"], seed=1, life=0.0)
    still, nods = (clip_of(done, character, accents=accents) for accents in ((), (0.5,)))
    assert {channel.kind for channel in still.channels} == {"weights"}
    assert "rotation" in {channel.kind for channel in nods.channels}
    brow = [clip.get("", "weights")[:, clip.channels[-1].columns.index("browInnerUp")] for clip in (still, nods)]
    assert (brow[1] - brow[0]).max() > 0.1 and (brow[1] - brow[0]).min() >= -1e-12
