"""A character's file: what is written is read again, and what is no such file is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy import cast
from understudy.cast import archive
from understudy.character import (
    Asset,
    Channel,
    Character,
    Clip,
    Curve,
    Curves,
    Image,
    Material,
    Mesh,
    Part,
    Skeleton,
    SkinBinding,
    Texture,
)
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
    skin = SkinBinding([0, 1], np.tile(np.eye(4), (2, 1, 1)), np.tile([0, 1], (6, 1)), np.tile([0.25, 0.75], (6, 1)))
    return Character("small", Skeleton(["a", "b"], [-1, 0], rng.normal(size=(2, 3))), [Part("Cloth", mesh, skin)])


def test_a_character_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    before = _small()
    archive.write(Asset([before]), tmp_path / "small.npz")
    after = archive.read(tmp_path / "small.npz").character()
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
        archive.write(Asset([_small()]), tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_layers_come_back_with_deltas_to_a_step_of_their_largest(tmp_path: Path) -> None:
    before = archive.read(cast.arrays_file("dragon")).character()
    assert before.layers is not None
    archive.write(Asset([before]), tmp_path / "again.npz")
    after = archive.read(tmp_path / "again.npz").character().layers
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
    assert cast.arrays_file("dragon").stat().st_size < 5_000_000


def _animation() -> tuple[Clip, Curves]:
    rng = np.random.default_rng(4)
    clip = Clip(
        "walk",
        [Channel("a", "translation"), Channel("a", "controls", ("x", "y"))],
        rng.normal(size=(7, 5)),
        48,
        0.125,
        ["calm"],
        "it walks",
        {"step": 0.1},
    )
    bezier = Curve(
        Channel("b", "euler", ("y", "x", "z")),
        [0, 0.5, 2],
        rng.normal(size=(3, 3)),
        2,
        *rng.uniform(0, 0.1, (2, 3, 3, 2)),
    )
    mixed = Curve(
        Channel("a", "translation"), [0.25, 1, 1.5], rng.normal(size=(3, 3)), [0, 1], None, None, ("hold", "cycle")
    )
    return clip, Curves("turn", [bezier, mixed], ["calm", "odd"], 30, "it turns", {"peak": 0.5})


def test_clips_and_curves_come_back_to_the_last_bit(tmp_path: Path) -> None:
    clip, curves = _animation()
    archive.write(Asset([_small()], [clip], [curves]), tmp_path / "moving.npz")
    after = archive.read(tmp_path / "moving.npz")
    for old, new in ((clip, after.clips[0]), (curves, after.curves[0])):
        assert (new.name, new.labels, new.rate, new.about) == (old.name, old.labels, old.rate, old.about)
        assert dict(new.moments) == dict(old.moments) and new.channels == old.channels
    assert after.clips[0].start == clip.start and np.array_equal(after.clips[0].values, clip.values)
    for old, new in zip(curves.curves, after.curves[0].curves):
        assert new.extrapolation == old.extrapolation
        for name in ("times", "values", "segments", "before", "after"):
            assert np.array_equal(getattr(new, name), getattr(old, name))


def test_other_animation_leaves_the_body_as_it_is(tmp_path: Path) -> None:
    clip, curves = _animation()
    path, plain = tmp_path / "moving.npz", tmp_path / "plain.npz"
    archive.write(Asset([_small()], [clip], [curves]), path)
    archive.write(Asset([_small()]), plain)
    archive.write_animation(path, curves=[curves])
    assert not archive.read(path).clips and len(archive.read(path).curves) == 1
    archive.write_animation(path)
    assert path.read_bytes() == plain.read_bytes()


def test_controls_are_read_without_the_rest() -> None:
    path = cast.arrays_file("dragon")
    layers = archive.read(path).character().layers
    alone = archive.read_controls(path)
    assert (
        layers is not None and alone.names == layers.controls.names and np.array_equal(alone.low, layers.controls.low)
    )
    with pytest.raises(BadFile, match="without layers"):
        archive.read_controls(cast.arrays_file("lamp"))


def test_other_archives_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(BadFile, match="holds no header"):
        archive.read(tmp_path / "other.npz")
    np.savez(tmp_path / "new.npz", header=np.frombuffer(b'{"version": 99}', np.uint8))
    with pytest.raises(BadFile, match="version 99"):
        archive.read(tmp_path / "new.npz")
    np.savez(tmp_path / "torn.npz", header=np.frombuffer(b'{"version": 1, "joints": []}', np.uint8))
    with pytest.raises(BadFile, match="not a character's file"):
        archive.read(tmp_path / "torn.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(BadFile):
        archive.read(tmp_path / "text.npz")
