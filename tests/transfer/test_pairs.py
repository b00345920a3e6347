from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.transfer import small

from understudy.character.body.poses import PoseSequence, sample_poses
from understudy.errors import BadFile, InvalidInput
from understudy.maths import quaternion, transform
from understudy.transfer.pairs import PairEntry, pairs_of, read_pairs

HEAD = """
[[pair]]
frame = 10
pose = {clip = "keys", time = 0.5}

[[pair]]
name = "looking up"
time = 1.0
[pair.pose]
"Head.rotate" = [-20, 0, 0]
"Base.translate" = [0, 0.1, 0.4]
"""


def read(folder: Path, text: str) -> object:
    path = folder / "pairs.toml"
    path.write_text(text)
    asset = small.hopper()
    return read_pairs(path, {"play": small.source()}, asset.character(), own=asset)


def entry(frame: int, motion: str = "play") -> PairEntry:
    asset = small.hopper()
    return PairEntry(
        motion, frame, sample_poses(asset.character(), asset.animations[0], np.array([frame / small.RATE]))
    )


def test_poses_stand_over_the_origin_wherever_they_were_made() -> None:
    away = transform.compose([3, 0, -2], quaternion.from_rotation_vector([0, 1.0, 0]))
    near, far = [entry(3), entry(9)], [entry(3), entry(9)]
    far = [PairEntry(e.motion, e.frame, e.pose.apply_transform(away)) for e in far]
    target = small.hopper().character()
    a, b = (pairs_of({"play": small.source()}, entries, target) for entries in (near, far))
    np.testing.assert_allclose(a.target, b.target, atol=1e-9)
    np.testing.assert_allclose(a.poses.world, b.poses.world, atol=1e-9)
    np.testing.assert_allclose(a.markers.frames(a.poses.world), np.tile(np.eye(4), (2, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(a.times, [0.1, 0.3])


def test_some_and_without() -> None:
    pairs = small.pairs()
    assert len(pairs.leave_out(2)) == len(pairs) - 1
    assert pairs.names[2] not in pairs.leave_out(2).names
    np.testing.assert_array_equal(pairs.subset([4, 1]).source, pairs.source[[4, 1]])
    assert len(pairs.subset([4, 1]).poses) == 2


def test_a_file_of_pairs(tmp_path: Path) -> None:
    pairs = read(tmp_path, HEAD)
    source = small.source()
    np.testing.assert_allclose(pairs.source, source.local[[10, 30]])
    assert pairs.names == ("play 10", "looking up")
    head = pairs.poses.skeleton.index("Head")
    turn = quaternion.from_rotation_vector([-np.radians(20), 0, 0])
    np.testing.assert_allclose(pairs.poses.rotations[1, head], turn, atol=1e-12)
    base = pairs.poses.skeleton.index("Base")
    np.testing.assert_allclose(pairs.poses.translations[1, base], [0, 0.1, 0], atol=1e-9)


def test_a_turn_in_degrees_goes_in_the_order_z_y_x(tmp_path: Path) -> None:
    pairs = read(tmp_path, HEAD.replace("[-20, 0, 0]", "[10, 20, 30]"))
    x, y, z = (quaternion.from_rotation_vector(np.radians(a) * np.eye(3)[i]) for i, a in enumerate((10, 20, 30)))
    expected = quaternion.multiply(z, quaternion.multiply(y, x))
    np.testing.assert_allclose(pairs.poses.rotations[1, pairs.poses.skeleton.index("Head")], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (HEAD, "", "at least one, but there are none"),
        ("frame = 10", "frame = 500", "from 0 to 89, but names 500"),
        ("frame = 10", "frame = 1.5", "should be a whole number"),
        ("frame = 10", "", "either a frame or a time"),
        ("time = 1.0", "time = 30.0", "should lie between 0 and 2.96667 s, but is 30 s"),
        ("time = 0.5", "time = 99", "should lie in clip 'keys'"),
        ('clip = "keys"', 'clip = "kyes"', "there is no clip 'kyes'"),
        ('clip = "keys"', 'file = "no.glb"', "there is no file 'no.glb'"),
        ("Head.rotate", "Haed.rotate", "no joint 'Haed' .did you mean 'Head'"),
        ("Head.rotate", "Head.spin", "kind one of 'rotation', 'rotate'"),
        ("[-20, 0, 0]", "[-20, 0]", "should be 3 numbers"),
        ("frame = 10", 'frame = 10\nmotion = "ply"', "one of 'play'"),
        ("frame = 10", "fraem = 10", "no key 'fraem' .did you mean 'frame'"),
        ("[[pair]]\nframe", "[[pairs]]\nframe", "no key 'pairs'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, old: str, new: str, word: str) -> None:
    assert old in HEAD
    with pytest.raises(BadFile, match=word) as caught:
        read(tmp_path, HEAD.replace(old, new, 1))
    assert "pairs.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_pairs_of_different_characters_are_refused() -> None:
    other = PoseSequence.rest(small.actor().character().skeleton)
    entries = [entry(3), PairEntry("play", 5, other)]
    with pytest.raises(InvalidInput, match="pair 2 should have a pose of 'hopper', but its pose is of another"):
        pairs_of({"play": small.source()}, entries, small.hopper().character())


def test_motions_of_different_characters_are_refused() -> None:
    from understudy.transfer.source import source_of

    asset = small.hopper()
    sources = {"play": small.source(), "keys": source_of(asset)}
    with pytest.raises(InvalidInput, match="all motions of the pairs should be of one character"):
        pairs_of(sources, [entry(3), entry(5, "keys")], asset.character())
