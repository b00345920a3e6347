"""Kinds of clips: laws of the motion, the vote of the name, and real files."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file, field_file
from tests.perform import small_world

from understudy import cast
from understudy.checks import Array
from understudy.formats import registry
from understudy.perform.behaviours import (
    Behaviour,
    clip_behaviour,
    find_behaviours,
    label_behaviour,
    name_vote,
    sample_motions,
)
from understudy.perform.library import ClipLibrary

RATE = 30.0


def walk(frames: int = 31, seconds: float = 1.0) -> Array:
    """(F, 4, 3) two legs swing half a cycle apart, the body bobs twice; the last frame repeats the first."""
    phase = 2 * np.pi * np.linspace(0, 1, frames)
    motion = np.zeros((frames, 4, 3))
    motion[:, 0, 2], motion[:, 1, 2] = 0.2 * np.sin(phase), -0.2 * np.sin(phase)
    motion[:, 0, 1], motion[:, 1, 1] = 0.05 * np.cos(phase), -0.05 * np.cos(phase)
    motion[:, 2:, 1] = 0.9 + 0.02 * np.sin(2 * phase)[:, None]
    return motion


def punch(frames: int = 31) -> Array:
    """(F, 4, 3) one arm strikes once and comes back, the last frame repeats the first."""
    t = np.linspace(0, 1, frames)
    motion = np.zeros((frames, 4, 3))
    motion[:, 3, 2] = 0.5 * np.exp(-np.square((t - 0.5) / 0.08))
    motion[:, 2, 0] = 0.1 * np.exp(-np.square((t - 0.45) / 0.1))
    return motion


def test_a_walk_is_a_cycle_and_a_punch_an_act() -> None:
    assert clip_behaviour(walk(), RATE).kind == "cycle"
    assert clip_behaviour(punch(), RATE).kind == "act"


@pytest.mark.parametrize("motion", [walk(), punch()])
def test_backwards_it_is_the_same(motion: Array) -> None:
    there, back = clip_behaviour(motion, RATE), clip_behaviour(motion[::-1], RATE)
    assert (there.kind, there.certainty) == (back.kind, back.certainty)
    assert there.period == pytest.approx(back.period)


@pytest.mark.parametrize("shift", [3, 11, 20])
@pytest.mark.parametrize("repeated", [True, False])
def test_a_cycle_cut_at_another_phase_is_the_same_cycle(shift: int, repeated: bool) -> None:
    loop = np.roll(walk()[:-1], shift, axis=0)
    cut = np.concatenate([loop, loop[:1]]) if repeated else loop
    behaviour = clip_behaviour(cut, RATE)
    assert behaviour.kind == "cycle"
    assert behaviour.period == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("frames", [16, 25, 61, 121])
def test_another_rate_changes_nothing(frames: int) -> None:
    for motion in (walk, punch):
        behaviour = clip_behaviour(motion(frames), frames - 1.0)
        assert behaviour.kind == clip_behaviour(motion(), RATE).kind
    assert clip_behaviour(walk(frames), frames - 1.0).period == pytest.approx(1.0)


def test_still_frames_at_the_ends_are_no_part_of_a_cycle() -> None:
    motion = walk()
    behaviour = clip_behaviour(np.concatenate([motion[:1], motion[:1], motion, motion[-1:]]), RATE)
    assert (behaviour.kind, behaviour.start) == ("cycle", pytest.approx(2 / RATE))
    assert behaviour.period == pytest.approx(1.0)
    act = punch()
    assert clip_behaviour(np.concatenate([act, np.repeat(act[-1:], 12, axis=0)]), RATE).kind == "act"


def test_what_does_not_move_is_a_pose() -> None:
    assert clip_behaviour(np.zeros((40, 4, 3)), RATE).kind == "pose"
    assert clip_behaviour(walk()[:2], RATE).kind == "pose"
    assert clip_behaviour(walk()[:1], RATE, "Walk").kind == "pose"
    assert clip_behaviour(1e-3 * walk(), RATE).kind == "pose"


def test_ends_that_are_apart_make_an_act_and_a_long_one_is_hovered_in() -> None:
    fall = walk()[:8]
    assert clip_behaviour(fall, RATE).kind == "act"
    take = np.cumsum(np.random.default_rng(0).normal(size=(200, 4, 3)), axis=0) * 0.01
    assert clip_behaviour(take, RATE).kind == "hover"


def test_names_only_vote() -> None:
    assert clip_behaviour(punch(), RATE, "Walk").kind == "act"
    assert clip_behaviour(walk()[:8], RATE, "Walk").kind == "act"
    assert clip_behaviour(punch(), RATE, "Walk").certainty < 0.8 <= clip_behaviour(punch(), RATE).certainty
    assert clip_behaviour(walk(), RATE, "Attack").certainty < 0.8 <= clip_behaviour(walk(), RATE).certainty
    assert clip_behaviour(walk(), RATE, "Walk").certainty > clip_behaviour(walk(), RATE).certainty
    assert clip_behaviour(np.zeros((9, 4, 3)), RATE, "Walk").kind == "pose"


def test_what_names_say() -> None:
    votes = {"Walk": 1, "Armature|RunFast": 1, "1H_Melee_Attack_Chop": -1, "Idle": 2, "Jump_ToIdle": -1}
    silent = {"Run_Shoot": 0, "Idle_HitReact_Left": 0, "clip_0": 0, "Attacking": 0, "Trunk": 0}
    assert {name: name_vote(name) for name in (*votes, *silent)} == {**votes, **silent}


def test_what_a_label_plays() -> None:
    known = {
        "a": Behaviour("cycle", 0.7, period=1.0),
        "b": Behaviour("cycle", 0.9, period=1.0),
        "c": Behaviour("act"),
        "d": Behaviour("act"),
    }
    assert label_behaviour(["a", "b", "c"], known) == (1, known["b"])
    assert label_behaviour(["c"], known) == (0, known["c"])
    assert label_behaviour(["c", "d"], known)[1].kind == "hover"
    assert label_behaviour(["a", "c"], known)[1].kind == "hover"
    assert label_behaviour(["unknown"], known)[1].kind == "hover"


def test_where_acts_end() -> None:
    """A death stays, sitting down goes on in sitting, a punch returns, and so does standing up."""
    rest = np.zeros((1, 4, 3))
    rest[0, :, 1] = [0, 0.3, 0.6, 1]
    down = rest * [1, 0.2, 1] + [0.0, 0, 0.4] * np.array([[[0], [1], [2], [3]]])
    seat = rest * [1, 0.6, 1]
    ease = np.linspace(0, 1, 20)[:, None, None] ** 2 * (3 - 2 * np.linspace(0, 1, 20)[:, None, None])
    breath = 0.01 * np.sin(2 * np.pi * np.linspace(0, 1, 40))[:, None, None] * [0, 1, 0] * np.ones((1, 4, 1))
    motions = {
        "idle": rest + breath,
        "death": rest + ease * (down - rest),
        "sit_down": rest + ease * (seat - rest),
        "get_up": seat + ease * (rest - seat),
        "sitting": seat + breath,
        "punch": rest + punch(),
        "punch_2": rest + 0.8 * punch(),
    }

    class Rig:
        class character:
            vertex_count = 4

        def points(self, rows: Array, chosen: range) -> Array:
            return rows.reshape(len(rows), 4, 3)

    rows = {name: motion.reshape(len(motion), -1) for name, motion in motions.items()}
    found = find_behaviours(Rig(), rows, {name: name for name in rows}, RATE)  # type: ignore[arg-type]
    assert {name for name, behaviour in found.items() if behaviour.kind == "cycle"} == {"idle", "sitting"}
    assert {name for name, behaviour in found.items() if behaviour.stays} == {"death"}
    assert {name: b.returns for name, b in found.items() if b.returns} == {"sit_down": "sitting"}


def test_size_place_and_facing_change_nothing() -> None:
    path = data_file("gltf_quaternius/animals_pack_Fox.glb")
    asset = registry.read(path)
    library = ClipLibrary.from_asset(asset)
    rows = {take.clip: take.rows for take in library.takes}
    labels = {take.clip: take.label for take in library.takes}

    class Moved:
        """The same rig, three times as large, turned and elsewhere."""

        character = library.rig.character

        def points(self, rows: Array, chosen: range) -> Array:
            x, y, z = np.moveaxis(3 * library.rig.points(rows, chosen).astype(float), -1, 0)
            return np.stack([z + 5, y + 2, -x], axis=-1)

    found = find_behaviours(Moved(), rows, labels, library.rate)  # type: ignore[arg-type]
    for clip, behaviour in found.items():
        other = library.behaviours[clip]
        assert (behaviour.kind, behaviour.stays, behaviour.returns) == (other.kind, other.stays, other.returns), clip
        assert behaviour.period == pytest.approx(other.period, abs=1e-3)


def test_morphs_move_though_no_joint_does() -> None:
    asset = registry.read(data_file("gltf_khronos/AnimatedMorphCube.glb"))
    assert ClipLibrary.from_asset(asset).behaviours["Square"].kind == "cycle"


@pytest.mark.parametrize("member", ["dragon", "lamp", "actor"])
def test_moods_of_the_cast_are_hovered_in(member: str) -> None:
    library = ClipLibrary.from_asset(cast.load(member))
    for label in library.labels:
        clips = [take.clip for take in library.of_label(label)]
        assert label_behaviour(clips, library.behaviours)[1].kind == "hover", label


FAULTS = {
    "glb/Soldier.glb": ({"Idle": "cycle", "Walk": "cycle", "Run": "cycle"}, {"TPose"}),
    "glb/Xbot.glb": ({"idle": "cycle", "walk": "cycle", "run": "cycle"}, {"sad_pose", "sneak_pose"}),
    "glb/Michelle.glb": ({"SambaDance": "cycle"}, {"TPose"}),
    "glb/Leela.glb": ({"Walk": "cycle", "Run": "cycle", "Idle": "cycle", "Death": "act", "Jump": "act"}, set()),
    "glb/Velociraptor.glb": ({"Velociraptor_Walk": "cycle", "Velociraptor_Death": "act"}, set()),
    "glb/Barbarian.glb": (
        {"Walking_A": "cycle", "1H_Melee_Attack_Chop": "act", "Lie_Down": "act"},
        {"T-Pose", "Death_A_Pose"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_files_that_were_refused_or_became_statues(name: str) -> None:
    kinds, poses = FAULTS[name]
    library = ClipLibrary.from_asset(registry.read(field_file(name)))
    found = {
        label: label_behaviour([take.clip for take in library.of_label(label)], library.behaviours)[1].kind
        for label in library.labels
    }
    assert {label: found[label] for label in kinds} == kinds
    assert poses <= set(library.poses) and not poses & set(library.labels)


def test_motions_have_no_travel() -> None:
    library = ClipLibrary.from_asset(small_world.asset())
    rows = library.takes[0].rows.copy()
    place = library.rig.channels.slice("root", "translation")
    assert place is not None
    carried = rows.copy()
    carried[:, place] += np.linspace(0, 3, len(rows))[:, None] * [1.0, 0, 2.0]
    still, moved = sample_motions(library.rig, [rows])[0], sample_motions(library.rig, [carried])[0]
    np.testing.assert_allclose(still, moved, atol=1e-6)
