from __future__ import annotations

from pathlib import Path

import pytest
from tests.transfer.small import actor, hopper

from understudy.character import Asset
from understudy.errors import InvalidInput
from understudy.formats import write
from understudy.transfer.pairs import find_sources, list_motion_names, sources_of


def test_one_motion_has_the_files_name_several_their_own() -> None:
    asset = actor(0.5)
    assert list(sources_of(asset, "dog")) == ["dog"]
    clip = asset.clips[0]
    two = Asset(asset.characters, [clip, type(clip)("rig|walk", clip.channels, clip.values, clip.rate)])
    assert list(sources_of(two, "dog")) == ["play", "walk"]
    assert list(sources_of(two, "dog", ["walk"])) == ["walk"]


def test_nothing_that_moves_is_refused() -> None:
    with pytest.raises(InvalidInput, match="it has no animation"):
        sources_of(Asset(hopper().characters), "statue")


def test_motions_of_pairs_are_found_beside(tmp_path: Path) -> None:
    write(actor(0.5), tmp_path / "anger.glb")
    (tmp_path / "pairs.toml").write_text(
        '[[pair]]\nmotion = "anger"\n[[pair]]\nmotion = "anger"\n[[pair]]\nframe = 1\n'
    )
    names = list_motion_names(tmp_path / "pairs.toml")
    assert names == ["anger"]
    assert list(find_sources([*names, "joy"], [tmp_path])) == ["anger"]
