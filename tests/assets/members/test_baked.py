"""What the package ships is what the builders make: the lamp, the actor's clips, the limits, the dragon's controls."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assets.dragon.controls import dragon_controls
from assets.members import actor_motion, build, lamp
from understudy import cast
from understudy.cast import archive

CLOSE = 1e-12  # other processors round the last bits of sines otherwise; the files hold values to 1e3


def test_the_lamp_s_body_is_the_one_that_is_built() -> None:
    shipped, made = cast.load("lamp").character(), lamp.character()
    assert shipped.skeleton.names == made.skeleton.names
    assert np.allclose(shipped.skeleton.translations, made.skeleton.translations, rtol=0, atol=CLOSE)
    assert [part.name for part in shipped.parts] == [part.name for part in made.parts]
    for a, b in zip(shipped.parts, made.parts):
        assert np.array_equal(a.mesh.triangles, b.mesh.triangles) and a.mesh.materials == b.mesh.materials
        assert np.array_equal(a.skin.influences, b.skin.influences)
        for name in ("vertices", "normals", "colours"):  # float32
            assert np.allclose(getattr(a.mesh, name), getattr(b.mesh, name), rtol=0, atol=1e-6)
        assert np.allclose(a.skin.weights, b.skin.weights, rtol=0, atol=1e-6)


def test_the_lamp_s_curves_are_those_of_its_sheets() -> None:
    shipped, made = cast.load("lamp").curves, lamp.curves(lamp.skeleton())
    assert [own.name for own in shipped] == [own.name for own in made] == list(lamp.CLIPS)
    for a, b in zip(shipped, made):
        assert (a.labels, a.rate, a.about, dict(a.moments)) == (b.labels, b.rate, b.about, dict(b.moments))
        assert a.channels == b.channels
        for one, other in zip(a.curves, b.curves):
            for name in ("times", "values", "before", "after", "segments"):
                assert np.allclose(getattr(one, name), getattr(other, name), rtol=0, atol=CLOSE)


def test_the_actor_s_clips_are_those_of_its_sheets() -> None:
    shipped, made = cast.load("actor").clips, actor_motion.clips()
    assert [clip.name for clip in shipped] == [clip.name for clip in made] == list(actor_motion.EMOTIONS)
    for a, b in zip(shipped, made):
        assert (a.labels, a.rate, a.start, a.about) == (b.labels, b.rate, b.start, b.about)
        assert dict(a.moments) == dict(b.moments) and a.channels == b.channels
        assert a.values.dtype == np.float64 and np.allclose(a.values, b.values, rtol=0, atol=CLOSE)


def test_limits_are_written_as_they_are_shipped(tmp_path: Path) -> None:
    build.main("limits", tmp_path / "limits.json")
    assert (tmp_path / "limits.json").read_bytes() == (cast.FOLDER / "limits.json").read_bytes()


def test_the_dragon_s_controls_are_those_of_its_tables() -> None:
    shipped, made = archive.read_controls(cast.arrays_file("dragon")), dragon_controls()
    for name in archive.CONTROL_TEXTS:
        assert getattr(shipped, name) == getattr(made, name)
    for name in archive.CONTROL_NUMBERS:
        assert np.array_equal(getattr(shipped, name), getattr(made, name))
