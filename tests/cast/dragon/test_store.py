"""The dragon's file: what is written is read again, and what is no such file is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.cast.dragon import store
from understudy.character import Character, Image, Material, Mesh, Part, Skeleton, Skin, Texture
from understudy.errors import BadFile


def _small() -> Character:
    rng = np.random.default_rng(3)
    picture = Image("coat", "image/png", b"not really a picture")
    material = Material(
        "skin",
        (0.5, 0.25, 0.125, 1.0),
        roughness=0.3,
        alpha_mode="BLEND",
        textures={"colour": Texture(picture, 0, {"wrapS": 10497}, {"extras": {"a": 1}}), "normal": Texture(picture)},
        extra={"extensions": {"KHR_materials_unlit": {}}},
    )
    mesh = Mesh(
        "cloth",
        rng.normal(size=(6, 3)),
        [[0, 1, 2], [3, 4, 5]],
        uvs=[rng.uniform(size=(2, 3, 2))],
        colours=rng.uniform(size=(6, 4)),
        materials=[material],
    )
    skin = Skin([0, 1], np.tile(np.eye(4), (2, 1, 1)), np.tile([0, 1], (6, 1)), np.tile([0.25, 0.75], (6, 1)))
    return Character("small", Skeleton(["a", "b"], [-1, 0], rng.normal(size=(2, 3))), [Part("Cloth", mesh, skin)])


def test_a_character_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    before = _small()
    store.write(before, tmp_path / "small.npz")
    after = store.read(tmp_path / "small.npz")
    assert after.name == before.name and after.skeleton.names == before.skeleton.names and after.layers is None
    assert np.array_equal(after.skeleton.translations, before.skeleton.translations)
    a, b = after.parts[0], before.parts[0]
    for name in ("vertices", "triangles", "colours"):
        assert np.array_equal(getattr(a.mesh, name), getattr(b.mesh, name))
    assert np.array_equal(a.mesh.uvs[0], b.mesh.uvs[0])
    assert np.array_equal(a.skin.weights, b.skin.weights) and np.array_equal(a.skin.influences, b.skin.influences)
    assert a.mesh.materials == b.mesh.materials


def test_the_same_character_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.npz", "two.npz"):
        store.write(_small(), tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_layers_come_back_with_deltas_to_a_step_of_their_largest(tmp_path: Path) -> None:
    before = store.read()
    assert before.layers is not None
    store.write(before, tmp_path / "again.npz")
    after = store.read(tmp_path / "again.npz").layers
    assert after is not None
    old = before.layers
    assert after.controls.names == old.controls.names and after.components == old.components
    assert np.array_equal(after.controls.high, old.controls.high) and dict(after.points) == dict(old.points)
    for name in ("drive_gain", "corrective_gain", "toward_target", "low", "high"):
        assert np.array_equal(getattr(after, name), getattr(old, name))
    assert np.array_equal(after.shapes.vertices, old.shapes.vertices)
    largest = np.maximum.reduceat(np.abs(old.shapes.deltas).max(axis=1), old.shapes.first[:-1])
    error = np.abs(after.shapes.deltas - old.shapes.deltas).max(axis=1)
    assert (error <= np.repeat(largest, np.diff(old.shapes.first)) / 32767).all()
    assert after.lattice is not None and old.lattice is not None
    assert np.array_equal(after.lattice.gain, old.lattice.gain) and after.lattice.counts == old.lattice.counts
    for name, mask in old.masks.items():
        assert np.abs(after.masks[name] - mask).max() <= 0.5 / 255 + 1e-6


def test_the_shipped_file_is_small() -> None:
    assert store.PATH.stat().st_size < 5_000_000


def test_other_archives_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(BadFile, match="holds no header"):
        store.read(tmp_path / "other.npz")
    np.savez(tmp_path / "new.npz", header=np.frombuffer(b'{"version": 99}', np.uint8))
    with pytest.raises(BadFile, match="version 99"):
        store.read(tmp_path / "new.npz")
    np.savez(tmp_path / "torn.npz", header=np.frombuffer(b'{"version": 1, "joints": []}', np.uint8))
    with pytest.raises(BadFile, match="not a character's file"):
        store.read(tmp_path / "torn.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(BadFile):
        store.read(tmp_path / "text.npz")
