"""Content files: the same bytes for the same curves, and the same curves to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.studio.edit.robot import flight
from tests.studio.edit.test_curve_table import mixed

from understudy.edit.serialise import same_curves
from understudy.errors import BadFile
from understudy.studio.edit import edit_clip


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_curves_come_back_to_the_last_bit(seed: int | None, tmp_path: Path) -> None:
    curves = flight() if seed is None else mixed(seed)
    name = edit_clip.write_curves(curves, tmp_path)
    assert same_curves(edit_clip.read_curves(tmp_path / name, "it"), curves)
    assert edit_clip.write_curves(curves, tmp_path) == name and len(list(tmp_path.iterdir())) == 1
    assert edit_clip.pack_curves(edit_clip.read_curves(tmp_path / name, "it")) == (tmp_path / name).read_bytes()


def test_other_curves_have_other_names(tmp_path: Path) -> None:
    assert edit_clip.write_curves(mixed(1), tmp_path) != edit_clip.write_curves(mixed(2), tmp_path)


def test_damage_is_told_in_a_sentence(tmp_path: Path) -> None:
    data = edit_clip.pack_curves(flight())
    with pytest.raises(BadFile, match="the edit: the file of the edited curves is missing"):
        edit_clip.read_curves(tmp_path / "nothing.npz", "the edit")
    for broken in (b"", data[: len(data) // 2], b"PK" + data[2:40]):
        (tmp_path / "broken.npz").write_bytes(broken)
        with pytest.raises(BadFile, match="damaged"):
            edit_clip.read_curves(tmp_path / "broken.npz", "the edit")
