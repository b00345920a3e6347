"""Bakes: round trip, what becomes of them as an asset, and archives that claim too much."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from tests.data_folder import data_files

from understudy.character import kinematics
from understudy.errors import BadFile, InvalidInput, UnderstudyError, Unsupported
from understudy.formats import npz
from understudy.maths import quaternion, transform


def make_bake(parents=True, frames=5, scale=1.0):
    rng = np.random.default_rng(2)
    turns = quaternion.from_rotation_vector(rng.normal(size=(1, 3, 3)) + np.linspace(0, 1, frames)[:, None, None])
    joints = transform.compose(rng.normal(size=(frames, 3, 3)), turns, scale)
    return npz.Bake(
        times=2.0 + np.arange(frames) / 24,
        joint_names=("tip", "hips", "spine"),
        joints=joints,
        vertices=rng.normal(size=(frames, 4, 3)).astype(np.float32),
        triangles=np.array([[0, 1, 2], [0, 2, 3]]),
        parents=np.array([2, -1, 1]) if parents else None,
    )


def arrays_of(bake):
    buffer = io.BytesIO()
    np.savez(buffer)
    return {
        "times": bake.times,
        "joint_names": np.array(bake.joint_names),
        "joints": bake.joints,
        "vertices": bake.vertices,
        "triangles": bake.triangles,
    }


@pytest.mark.parametrize("parents", [True, False])
def test_round_trip_is_exact(tmp_path, parents):
    bake = make_bake(parents)
    npz.write_bake(bake, tmp_path / "x.npz")
    back = npz.read_bake(tmp_path / "x.npz")
    assert back.joint_names == bake.joint_names
    for name in ("times", "joints", "vertices", "triangles"):
        np.testing.assert_array_equal(getattr(back, name), getattr(bake, name))
    assert (back.parents is None) if not parents else list(back.parents) == [2, -1, 1]
    with np.load(tmp_path / "x.npz", allow_pickle=False) as plain:
        assert {"times", "joint_names", "joints", "vertices", "triangles"} <= set(plain)


@pytest.mark.parametrize("parents", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_as_asset_the_joints_move_alike(tmp_path, parents, scale):
    bake = make_bake(parents, scale=scale)
    npz.write_bake(bake, tmp_path / "x.npz")
    asset = npz.read(tmp_path / "x.npz")
    skeleton, clip = asset.characters[0].skeleton, asset.clips[0]
    t, q = (np.stack([clip.get(n, kind) for n in skeleton.names], 1) for kind in ("translation", "rotation"))
    scaled = clip.get("hips", "scale") is not None
    s = np.stack([clip.get(n, "scale") for n in skeleton.names], 1) if scaled else None
    world = kinematics.world_transforms(skeleton.parents, t, q, s)
    order = [bake.joint_names.index(name) for name in skeleton.names]
    np.testing.assert_allclose(world, bake.joints[:, order], atol=1e-12)
    assert scaled == (scale != 1.0)
    assert (clip.rate, clip.start) == (24, 2.0)
    assert any("first frame" in note for note in asset.notes)
    np.testing.assert_array_equal(asset.characters[0].parts[0].mesh.vertices, bake.vertices[0])
    assert len(asset.characters[0].joints) == 3


def test_vertices_stand_where_they_stood_in_the_first_frame(tmp_path):
    bake = make_bake()
    npz.write_bake(bake, tmp_path / "x.npz")
    character = npz.read(tmp_path / "x.npz").characters[0]
    skeleton, skin = character.skeleton, character.parts[0].skin
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    matrix = rest[skin.joints[0]] @ skin.inverse_binds[0]
    np.testing.assert_allclose(matrix, np.eye(4), atol=1e-12)


def test_twin_names_and_no_joints_and_no_vertices(tmp_path):
    bake = make_bake()
    twins = npz.Bake(bake.times, ("a", "a", "b"), bake.joints, bake.vertices[:, :0], np.zeros((0, 3)), None)
    npz.write_bake(twins, tmp_path / "x.npz")
    asset = npz.read(tmp_path / "x.npz")
    assert asset.characters[0].skeleton.names == ("a", "a_2", "b") and not asset.characters[0].parts
    bare = npz.Bake(bake.times, (), np.zeros((5, 0, 4, 4)), bake.vertices, bake.triangles)
    npz.write_bake(bare, tmp_path / "y.npz")
    assert npz.read(tmp_path / "y.npz").characters[0].skeleton.names == ("root",)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("times", np.zeros((5, 2))),
        ("times", np.zeros(4)),
        ("times", np.array(1.0)),
        ("times", np.zeros(5)),
        ("times", np.array(["a"] * 5)),
        ("joint_names", np.arange(3)),
        ("joint_names", np.array("x")),
        ("joint_names", np.array(["a", "b"])),
        ("joints", np.zeros((5, 3, 3, 4))),
        ("joints", np.array(2.0)),
        ("joints", np.full((5, 3, 4, 4), np.nan)),
        ("joints", np.full((5, 3, 4, 4), 1e200)),
        ("vertices", np.zeros((5, 4, 2), np.float32)),
        ("vertices", np.full((5, 4, 3), np.inf, np.float32)),
        ("vertices", np.array(1.0)),
        ("triangles", np.array([[0, 1, 4]])),
        ("triangles", np.array([[0, 1, -1]])),
        ("triangles", np.array([[0.5, 1, 2]])),
        ("joint_parents", np.array([1, 2, 0])),
        ("joint_parents", np.array([-1, 0, 9])),
    ],
)
def test_wrong_arrays_are_refused(tmp_path, field, value):
    path = tmp_path / "wrong.npz"
    np.savez(path, **{**arrays_of(make_bake()), field: value})
    with pytest.raises(UnderstudyError) as caught:
        npz.read(path)
    assert "\n" not in str(caught.value)


def test_other_archives_are_named(tmp_path):
    np.savez(tmp_path / "other.npz", frames=np.zeros(3), fps=24)
    with pytest.raises(Unsupported, match=r"frames, fps; a bake has times"):
        npz.read(tmp_path / "other.npz")
    with pytest.raises(Unsupported, match="frames"):
        npz.read_bake(tmp_path / "other.npz")


def test_objects_are_never_loaded(tmp_path):
    np.savez(tmp_path / "x.npz", **{**arrays_of(make_bake()), "times": np.array([{}, 1], dtype=object)})
    with pytest.raises(BadFile, match="plain numbers"):
        npz.read(tmp_path / "x.npz")


def test_a_claim_of_a_billion_vertices_is_refused(tmp_path):
    source = tmp_path / "x.npz"
    np.savez(source, **arrays_of(make_bake()))
    header = np.lib.format.magic(1, 0)
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 1000000000, 3), }".ljust(117) + "\n"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "big.npz", "w") as new:
        for name in old.namelist():
            fake = header + len(text).to_bytes(2, "little") + text.encode() + b"\0" * 64
            new.writestr(name, fake if name == "vertices.npy" else old.read(name))
    for reader in (npz.read, npz.read_bake):
        with pytest.raises(BadFile, match="claims 60,000,000,000 bytes"):
            reader(tmp_path / "big.npz")


def test_a_zip_bomb_is_refused(tmp_path):
    arrays = arrays_of(make_bake())
    arrays["joints"] = np.zeros((600_000, 3, 4, 4), np.float64)  # 230 MB of nothing
    arrays["times"] = np.zeros(600_000)
    arrays["vertices"] = np.zeros((1, 5_000_000, 3), np.float32)
    np.savez_compressed(tmp_path / "bomb.npz", **arrays)
    with pytest.raises(BadFile, match="unpacks to more than"):
        npz.read_bake(tmp_path / "bomb.npz")


def test_cut_and_scrambled_archives(tmp_path):
    npz.write_bake(make_bake(), tmp_path / "x.npz")
    whole = (tmp_path / "x.npz").read_bytes()
    rng = np.random.default_rng(4)
    for trial in range(150):
        content = bytearray(whole)
        if trial % 3 == 0:
            content = content[: rng.integers(0, len(content))]
        else:
            for at in rng.integers(0, len(content), 3):
                content[at] = rng.integers(0, 256)
        (tmp_path / "y.npz").write_bytes(bytes(content))
        try:
            npz.read(tmp_path / "y.npz")
        except UnderstudyError as error:
            assert str(error)


def test_a_bake_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "walk.npz"
    path.write_bytes(b"as it was")

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(InvalidInput, match=r"walk\.npz: No space left"):
        npz.write_bake(make_bake(), path)
    assert [p.name for p in tmp_path.iterdir()] == ["walk.npz"]
    assert path.read_bytes() == b"as it was"


def test_missing_file(tmp_path):
    with pytest.raises(BadFile, match="no such file"):
        npz.read_bake(tmp_path / "none.npz")


def test_bake_checks_its_arrays():
    bake = make_bake()
    with pytest.raises(InvalidInput, match="vertices should have shape"):
        npz.Bake(bake.times, bake.joint_names, bake.joints, bake.vertices[:3], bake.triangles)
    with pytest.raises(InvalidInput, match="at least one frame"):
        npz.Bake(np.zeros(0), (), np.zeros((0, 0, 4, 4)), np.zeros((0, 0, 3)), np.zeros((0, 3)))


@pytest.mark.parametrize("path", data_files("**/*.npz"), ids=lambda path: path.stem)
def test_real_archives_of_other_kinds_are_refused_by_name(path):
    with pytest.raises(Unsupported, match="a bake has times"):
        npz.read(path)
