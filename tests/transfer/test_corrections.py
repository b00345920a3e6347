"""Pairs as corrections of the plain retarget: none changes nothing, one is met, more are better than pairs alone."""

from __future__ import annotations

import numpy as np
import pytest

from understudy import cast
from understudy.character import Asset, Character, Skeleton
from understudy.character.body.poses import PoseSequence
from understudy.maths import quaternion
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.corrections import PoseCorrections, fit_corrections
from understudy.transfer.mapping import fit_mapping, pair_error
from understudy.transfer.pairs import PairEntry, PosePairs, pairs_of
from understudy.transfer.retarget import retarget
from understudy.transfer.retargeter import Retargeter
from understudy.transfer.source import SourceMotion, source_of


@pytest.fixture(scope="module")
def motion() -> SourceMotion:
    return source_of(cast.load("actor"), "anger", rate=12)


@pytest.fixture(scope="module")
def giant(motion: SourceMotion) -> BoneMap:
    """A larger body with longer arms."""
    assert motion.poses is not None
    old = motion.poses.skeleton
    sizes = np.array([1.8 if "Arm" in name else 1.3 for name in old.names])[:, None]
    skeleton = Skeleton(old.names, old.parents, sizes * old.translations, old.rotations, old.scales)
    return bone_map(Character("giant", skeleton))


@pytest.fixture(scope="module")
def wanted(motion: SourceMotion, giant: BoneMap) -> PoseSequence:
    """The plain retarget as an animator would have it: hunched, the more the lower the hips, with arms held out."""
    assert motion.poses is not None and motion.character is not None
    plain = retarget(motion.poses, bone_map(motion.character), giant)
    rotations = np.array(plain.rotations)
    hips = plain.world[:, giant.bones["Hips"], 1, 3]
    hunch = np.outer(0.3 + 1.5 * (hips.max() - hips), [1.0, 0.0, 0.0])
    for joint, vector in ((giant.spine[0], hunch), (giant.bones["LeftUpperArm"], 0.4 + 0 * hunch)):
        rotations[:, joint] = quaternion.multiply(rotations[:, joint], quaternion.from_rotation_vector(vector))
    return PoseSequence(plain.skeleton, plain.translations, rotations, plain.rate)


def pairs_at(motion: SourceMotion, giant: BoneMap, wanted: PoseSequence, frames: list[int]) -> PosePairs:
    entries = [PairEntry("anger", frame, wanted.row(frame)) for frame in frames]
    return pairs_of({"anger": motion}, entries, giant.character)


def errors(motion: SourceMotion, giant: BoneMap, wanted: PoseSequence, count: int) -> tuple[float, float]:
    """Metres that markers are off over the whole motion: corrected, and by the pairs alone."""
    assert motion.poses is not None and motion.character is not None
    frames = np.linspace(10, len(motion) - 10, count).astype(int).tolist()
    pairs = pairs_at(motion, giant, wanted, frames)
    plain = retarget(motion.poses, bone_map(motion.character), giant)
    poses, _ = PoseCorrections().fit(pairs, giant).apply(plain, motion.local)
    truth = pairs.markers.local(wanted.world)
    alone = fit_mapping(pairs).map(motion.local).points if count > 1 else np.broadcast_to(pairs.target, truth.shape)
    return pair_error(pairs.markers.local(poses.world), truth), pair_error(alone, truth)


def test_pairs_that_say_nothing_new_change_nothing(motion: SourceMotion, giant: BoneMap) -> None:
    assert motion.poses is not None and motion.character is not None
    plain = retarget(motion.poses, bone_map(motion.character), giant)
    corrections = PoseCorrections().fit(pairs_at(motion, giant, plain, [20, 60, 100]), giant)
    poses, _ = corrections.apply(plain, motion.local)
    assert np.abs(poses.world - plain.world).max() < 0.02


def test_one_pair_is_met(motion: SourceMotion, giant: BoneMap, wanted: PoseSequence) -> None:
    assert motion.poses is not None and motion.character is not None
    pairs = pairs_at(motion, giant, wanted, [50])
    plain = retarget(motion.poses, bone_map(motion.character), giant)
    poses, variance = PoseCorrections().fit(pairs, giant).apply(plain, motion.local)
    made = quaternion.angle_between(poses.rotations[50], wanted.rotations[50])
    assert np.degrees(made.max()) < 6
    assert variance[50] < variance.max()


def test_corrections_are_never_worse_than_pairs_alone_and_improve(
    motion: SourceMotion, giant: BoneMap, wanted: PoseSequence
) -> None:
    assert motion.poses is not None and motion.character is not None
    plain = retarget(motion.poses, bone_map(motion.character), giant)
    pairs = pairs_at(motion, giant, wanted, [0])
    none = pair_error(pairs.markers.local(plain.world), pairs.markers.local(wanted.world))
    found = {count: errors(motion, giant, wanted, count) for count in (1, 3, 6, 12)}
    assert all(corrected < alone for corrected, alone in found.values())
    assert found[1][0] < none and found[3][0] < 0.3 * none and found[12][0] < 0.1 * none


def test_corrections_are_chosen_by_their_left_out_error(
    motion: SourceMotion, giant: BoneMap, wanted: PoseSequence
) -> None:
    chosen = fit_corrections(pairs_at(motion, giant, wanted, list(range(10, 200, 24))), giant)
    assert chosen is not None
    assert chosen.left_out_["corrections"] == min(chosen.left_out_.values())


def test_a_lamp_has_no_bones_to_correct() -> None:
    actor, lamp = cast.load("actor"), cast.load("lamp")
    pairs = PosePairs.read("lamp", actor, lamp).subset(range(6))
    assert fit_corrections(pairs, bone_map(lamp.character())) is None


def test_the_retargeter_corrects_and_comes_back_from_its_file(
    motion: SourceMotion, giant: BoneMap, wanted: PoseSequence, tmp_path: object
) -> None:
    pairs = pairs_at(motion, giant, wanted, [50])
    retargeter = Retargeter(giant.character, physics=False).fit(pairs)
    actor = cast.load("actor")
    result = retargeter.transform(Asset(actor.characters, [], [actor.animation("anger")]), rate=12)  # type: ignore[list-item]
    assert result.report["mapping"] == "bones, corrected by pairs" and result.report["suggested"]
    path = f"{tmp_path}/giant.understudy"
    retargeter.save(path)
    again = Retargeter.load(path).transform(Asset(actor.characters, [], [actor.animation("anger")]), rate=12)  # type: ignore[list-item]
    np.testing.assert_allclose(again.poses.rotations, result.poses.rotations, atol=1e-9)
