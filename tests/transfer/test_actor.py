"""Motions of other performers as motions of the actor of the pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests import data_folder

from understudy import cast, formats
from understudy.character import Asset, Channel, Character, Clip, Skeleton
from understudy.character.body.poses import clip_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import transform
from understudy.transfer.actor import MARKER_PLACES, Actor, _marker_places, fit_markers, perform_as
from understudy.transfer.bone_map import bone_map
from understudy.transfer.pairs import read_pairs, sources_of
from understudy.transfer.source import SourceMotion, source_of

SIDED_LABELS = (
    "FHD",
    "BHD",
    "SHO",
    "UPA",
    "ELB",
    "FRM",
    "WRA",
    "FIN",
    "ASI",
    "PSI",
    "THI",
    "KNE",
    "TIB",
    "ANK",
    "HEE",
    "TOE",
)
LABELS = ("C7", "T10", "CLAV", "STRN", *(side + label for label in SIDED_LABELS for side in "LR"))


@pytest.fixture(scope="module")
def surprise() -> SourceMotion:
    return source_of(cast.load("actor"), "surprise", rate=12)


@pytest.fixture(scope="module")
def actor(surprise: SourceMotion) -> Actor:
    found = Actor.from_motion(surprise)
    assert found is not None
    return found


def as_capture(motion: SourceMotion, size: float) -> SourceMotion:
    """The same performance by a body of another size without a mesh, as a BVH file has it."""
    assert motion.poses is not None
    old = motion.poses.skeleton
    skeleton = Skeleton(old.names, old.parents, size * old.translations, old.rotations, old.scales)
    moved = replace(motion.poses, skeleton=skeleton, translations=size * motion.poses.translations)
    return source_of(Asset([Character("capture", skeleton)], [clip_of(moved, motion.name)]))


def bone_directions(motion: SourceMotion) -> Array:
    """(F, n, 3) unit vectors along thighs, shins, arms and forearms."""
    assert motion.poses is not None and motion.character is not None
    bones, places = bone_map(motion.character).bones, motion.poses.world[..., :3, 3]
    ends = [("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"), ("UpperArm", "LowerArm"), ("LowerArm", "Hand")]
    rows = [places[:, bones[s + b]] - places[:, bones[s + a]] for s in ("Left", "Right") for a, b in ends]
    ways = np.stack(rows, axis=1)
    return np.asarray(ways / np.linalg.norm(ways, axis=-1, keepdims=True))


def test_the_actors_own_motion_is_not_touched(actor: Actor, surprise: SourceMotion) -> None:
    assert perform_as(actor, surprise)[0] is surprise


def test_a_capture_becomes_the_same_performance_of_the_actor(actor: Actor, surprise: SourceMotion) -> None:
    capture = as_capture(surprise, 1.3)
    assert capture.points.shape != surprise.points.shape
    played, body = perform_as(actor, capture)
    assert played.points.shape == surprise.points.shape and body is not None
    np.testing.assert_allclose(bone_directions(played), bone_directions(surprise), atol=1e-6)
    assert np.abs(played.local - surprise.local).max() < 0.03  # soles without a mesh differ a little
    assert "carried over" in played.notes[-1]


def test_a_body_without_human_bones_is_refused(actor: Actor) -> None:
    lamp = source_of(cast.load("lamp"), "hop")
    with pytest.raises(InvalidInput, match="bones"):
        perform_as(actor, lamp)


def test_markers_are_fitted(actor: Actor, surprise: SourceMotion) -> None:
    """Markers on the actor's own skin, elsewhere than the table says and on a larger person, show the same poses."""
    assert surprise.poses is not None
    places = _marker_places(LABELS, bone_map(actor.character))
    assert set(places) == set(LABELS)
    rng = np.random.default_rng(3)
    joints = [place.joint for place in places.values()]
    offsets = np.array([place.offset for place in places.values()]) + rng.normal(0, 0.01, (len(joints), 3))
    points = 1.15 * transform.apply(surprise.poses.world[:, joints], offsets)
    channels = [Channel(name, "marker") for name in places]
    cloud = source_of(Asset([], [Clip("cloud", channels, points.reshape(len(points), -1), surprise.rate)]))
    assert cloud.poses is None
    played, _ = perform_as(actor, cloud)
    angles = np.degrees(np.arccos(np.clip((bone_directions(played) * bone_directions(surprise)).sum(-1), -1, 1)))
    assert np.median(angles) < 4 and angles.mean() < 6


def test_markers_without_known_names_are_refused(actor: Actor) -> None:
    values = np.random.default_rng(0).normal(0, 0.5, (5, 30)) + 1
    cloud = source_of(Asset([], [Clip("c", [Channel(f"Channel{i}", "marker") for i in range(10)], values, 30.0)]))
    with pytest.raises(InvalidInput, match="names that tell where they are"):
        fit_markers(cloud, actor)


def test_every_place_names_a_bone_or_the_trunk() -> None:
    parts = {part for _, part, _, _ in MARKER_PLACES}
    bones = {bone.removeprefix("Left") for bone in bone_map(cast.load("actor").character()).bones}
    assert parts <= bones | {"Trunk"}


def test_pairs_of_two_performers_become_those_of_the_first(surprise: SourceMotion, tmp_path: Path) -> None:
    capture = as_capture(surprise, 0.8)
    lamp = cast.load("lamp")
    path = tmp_path / "pairs.toml"
    rows = [("surprise", 3), ("other", 20), ("surprise", 40)]
    path.write_text(
        "".join(f'[[pair]]\nmotion = "{m}"\nframe = {f}\npose = {{clip = "hop", time = 0}}\n' for m, f in rows)
    )
    pairs = read_pairs(path, {"surprise": surprise, "other": capture}, lamp.character(), own=lamp)
    assert pairs.performed is not None and len(pairs.performed) == 3
    assert np.abs(pairs.source[1] - surprise.local[20]).max() < 0.03


@pytest.mark.parametrize("name", ["bvh_cmu/54_18.bvh", "c3d_btk/Gait.c3d"])
def test_real_captures_reach_the_actor(actor: Actor, name: str) -> None:
    source = next(iter(sources_of(formats.read(data_folder.data_file(name)), "motion").values()))
    played, _ = perform_as(actor, source)
    assert len(played) == len(source) and np.isfinite(played.points).all()
    assert played.poses is not None
    feet = [actor.skeleton.index(joint) for joint in ("LeftFoot", "RightFoot")]
    low = played.poses.world[:, feet, 1, 3].min(axis=1)
    assert abs(float(np.percentile(low, 10))) < 0.2
