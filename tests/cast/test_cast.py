"""The cast is data: every member loads the same way, and needs nothing of the code that built it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.data_folder import PROJECT

from understudy import cast
from understudy.errors import InvalidInput

ALONE = """
import sys
from understudy import cast
for name in cast.names():
    cast.load(name), cast.poses(name), cast.limits(name), cast.body(name)
    if cast.FOLDER.joinpath("pairs", name + ".toml").is_file():
        cast.pairs(name).read_text(encoding="utf-8")
builders = ("assets", "skimage", "pymeshlab", "xatlas")
sys.exit(", ".join(name for name in sys.modules if name.partition(".")[0] in builders) or 0)
"""


def test_loading_needs_nothing_of_assets() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", cast.names())
def test_every_member_has_one_character_of_its_name(name: str) -> None:
    asset = cast.load(name)
    assert [character.name for character in asset.characters] == [name] and asset.format == "cast"
    assert cast.arrays_file(name).is_file()
    assert set(cast.limits(name)) <= set(asset.character().skeleton.names)


@pytest.mark.parametrize("ask", [cast.load, cast.poses, cast.limits, cast.body, cast.arrays_file])
def test_a_name_that_is_not_known_is_refused(ask) -> None:
    with pytest.raises(InvalidInput, match=r"there is no cast member 'toaster'; available: .*'lamp'"):
        ask("toaster")


def test_only_the_dragon_has_poses_and_those_of_groups_are_asked_for() -> None:
    assert not any(cast.poses(name) for name in cast.names() if name != "dragon")
    full, every = cast.poses("dragon"), cast.poses("dragon", groups=True)
    assert not any("." in name for name in full) and set(full) < set(every)
