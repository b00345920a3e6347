from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy import formats
from understudy.cast import load
from understudy.character import Asset
from understudy.character.rig.baking import Bake
from understudy.deform import example_files
from understudy.deform.examples import Examples
from understudy.errors import BadFile, Unsupported
from understudy.formats.npz import write_bake

TRIANGLE = {"rest": np.zeros((3, 3)), "triangles": [[0, 1, 2]]}


def blended(found: Examples) -> np.ndarray:
    """(E, V, 3) the linear blend of the weights that came with the examples."""
    rest = np.c_[found.rest, np.ones(len(found.rest))]
    return np.einsum("vk,evkab,vb->eva", found.weights, found.matrices[:, found.joints], rest)[..., :3]


def test_our_own_examples_come_back(bending: Examples, tmp_path: Path) -> None:
    example_files.write(bending, tmp_path / "tube.npz")
    found, notes = example_files.read(str(tmp_path / "tube.npz"))
    assert notes == [] and found.names == bending.names
    for name in (*example_files.EXAMPLE_ARRAYS, "weights", "joints"):
        np.testing.assert_array_equal(getattr(found, name), getattr(bending, name))


def test_fewer_poses_are_spread_evenly(bending: Examples, tmp_path: Path) -> None:
    example_files.write(bending, tmp_path / "tube.npz")
    found, notes = example_files.read(str(tmp_path / "tube.npz"), frames=4)
    np.testing.assert_array_equal(found.vertices, bending.vertices[[0, 4, 7, 11]])
    assert "4 of 12 poses" in notes[0]


def test_a_bake_is_examples(bending: Examples, tmp_path: Path) -> None:
    path = tmp_path / "bake.npz"
    bake = Bake(
        np.arange(12) / 24, bending.names, bending.transforms, bending.vertices, bending.triangles, bending.parents
    )
    write_bake(bake, path)
    found, notes = example_files.read(str(path))
    np.testing.assert_allclose(found.matrices[0], np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-9)
    assert len(found) == 12 and "first frame" in notes[0]


def test_a_sequence_with_weights_is_given_its_motion(bending: Examples, tmp_path: Path) -> None:
    """Joints may be in any order; the motion found plays the sequence nearly as the true motion does."""
    dense = np.zeros((len(bending.rest), 3))
    np.add.at(dense, (np.arange(len(dense))[:, None], bending.joints), bending.weights)
    used = dense[:, [2, 1]] + np.stack([np.zeros(len(dense)), dense[:, 0]], axis=1)  # the lower bone first
    np.savez(
        tmp_path / "s.npz",
        rest=bending.rest,
        frames=bending.vertices,
        triangles=bending.triangles,
        hand_weights=0.998 * used,
        joint_parent=[1, -1],
        joint_names=["lower", "upper"],
    )
    found, notes = example_files.read(str(tmp_path / "s.npz"))
    assert found.names == ("upper", "lower") and list(found.parents) == [-1, 0]
    assert any("normalised" in note for note in notes) and any("closest" in note for note in notes)
    last = found.matrices[-1] @ [2.0, 0.0, 0.0, 1.0]
    true = bending.matrices[-1, 2] @ [2.0, 0.0, 0.0, 1.0]
    assert np.linalg.norm(last[1] - true) < 0.05


def test_a_folder_of_obj_files_is_given_bones(bending: Examples, tmp_path: Path) -> None:
    for i in range(5):
        lines = ["v {:.6f} {:.6f} {:.6f}".format(*v) for v in bending.vertices[2 * i]]
        lines += ["f {} {} {}".format(*(t + 1)) for t in bending.triangles]
        (tmp_path / f"frame{i}.obj").write_text("\n".join(lines) + "\n")
    found, notes = example_files.read(str(tmp_path))
    assert len(found) == 4 and any("bones were found" in note for note in notes)
    np.testing.assert_allclose(found.vertices[-1], bending.vertices[8], atol=1e-5)
    (tmp_path / "frame3.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(BadFile, match=r"frame3.obj: has 3 vertices, but frame0.obj has 104"):
        example_files.read(str(tmp_path))


def test_a_character_plays_its_own_animations(tmp_path: Path) -> None:
    lamp = load("lamp")
    formats.write(Asset(lamp.characters, curves=lamp.curves[:1]), tmp_path / "lamp.glb")
    found, notes = example_files.read(str(tmp_path / "lamp.glb"), frames=5)
    assert len(found) == 5 and found.weights is not None and "evenly spread" in notes[-2]
    moved = np.einsum(
        "vk,vkab,vb->va", found.weights, found.matrices[3][found.joints], np.c_[found.rest, np.ones(len(found.rest))]
    )
    np.testing.assert_allclose(moved[:, :3], found.vertices[3], atol=1e-4)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"nothing": np.zeros(3)}, "holds the arrays nothing; examples have rest"),
        ({"rest": np.zeros((3, 3)), "frames": np.zeros((2, 3, 3))}, "neither"),
        ({**TRIANGLE, "frames": np.zeros((2, 3))}, "frames should have shape"),
        ({**TRIANGLE, "frames": np.zeros((2, 4, 3)), "hand_weights": np.ones((3, 1))}, "do not fit together"),
        ({**TRIANGLE, "frames": np.zeros((2, 3, 3)), "hand_weights": np.zeros((3, 1))}, "vertex 0 has no weight"),
    ],
)
def test_bad_archives_are_refused_in_a_sentence(arrays: dict, words: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises((BadFile, Unsupported), match=words):
        example_files.read(str(tmp_path / "bad.npz"))


def test_bad_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file"):
        example_files.read(str(tmp_path / "none.npz"))
    with pytest.raises(BadFile, match="3 OBJ files or more, but holds 0"):
        example_files.read(str(tmp_path))
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(BadFile, match="not a sound NumPy archive"):
        example_files.read(str(tmp_path / "x.npz"))


def test_the_bone_sequence() -> None:
    found, _ = example_files.read(str(data_file("meshseq_dembones/bone_meshseq.npz")), frames=12)
    plain = np.einsum(
        "vk,evkab,vb->eva", found.weights, found.matrices[:, found.joints], np.c_[found.rest, np.ones(754)]
    )
    error = np.linalg.norm(plain[..., :3] - found.vertices, axis=-1)
    assert np.sqrt((error**2).mean()) < 0.02 * found.size
