"""`demo`: from clips to a video and a file, with everything that is needed to go on from there."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from understudy import cast, formats
from understudy.cli.demo import SCENES, _make_model
from understudy.perform.commands import COMMAND_KINDS
from understudy.perform.library import ClipLibrary
from understudy.perform.script import ModelVocabulary, OneOf, parse_script


def scene(who: str):
    return parse_script(
        (resources.files("understudy.cast") / "scenes" / f"{who}.toml").read_text(encoding="utf-8"), who
    )


@pytest.mark.long
def test_it_leaves_a_video_a_file_a_model_and_the_script(understudy, tmp_path: Path) -> None:
    code, out, err = understudy("demo", "lamp", "-o", tmp_path / "demo", "--size", "64x48")
    assert code == 0, err
    names = ["lamp.glb", "lamp.mp4", "lamp.toml", "lamp.understudy"]
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == names
    assert out.decode().strip() == str((tmp_path / "demo" / "lamp.mp4").resolve())
    assert "learned its clips" in err and "performed the scene" in err and "understudy perform" in err
    asset = formats.read(tmp_path / "demo" / "lamp.glb")
    assert asset.animations[0].duration > 8


def test_the_dragons_model_is_that_of_the_package(tmp_path: Path) -> None:
    target = tmp_path / "dragon.understudy"
    _make_model("dragon", target, learns=False, quiet=True)
    assert target.read_bytes() == cast.model_file("dragon").read_bytes()


@pytest.mark.parametrize("who", SCENES)
def test_scenes_name_what_their_characters_have(who: str) -> None:
    asset = cast.load(who)
    library = ClipLibrary.from_asset(asset, rate=24)
    clips = {take.clip: take.duration for take in library.takes}
    scene(who).check(ModelVocabulary(library.labels, tuple(cast.poses(who)), clips))


def test_the_dragons_scene_has_every_command() -> None:
    script = scene("dragon")
    every = [*script.steps, *(step for set_ in script.sets.values() for variant in set_ for step in variant.steps)]
    words = {step.action.word for step in every if not isinstance(step.action, OneOf)}
    assert words == set(COMMAND_KINDS) - {"go", "turn"}  # a head on a neck walks nowhere
    assert any(isinstance(step.action, OneOf) for step in every)
    dials = {
        name for step in every for name in ("liveliness", "stillness") if getattr(step.action, name, None) is not None
    }
    assert dials == {"liveliness", "stillness"}
