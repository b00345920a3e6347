"""Content files: the same bytes for the same curves, and the same curves to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.studio.edit.robot import flight
from tests.studio.edit.test_curve_table import mixed

from understudy.errors import BadFile
from understudy.keyframes.past import same
from understudy.studio.edit import content


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_curves_come_back_to_the_last_bit(seed: int | None, tmp_path: Path) -> None:
    curves = flight() if seed is None else mixed(seed)
    name = content.write(curves, tmp_path)
    assert same(content.read(tmp_path / name, "it"), curves)
    assert content.write(curves, tmp_path) == name and len(list(tmp_path.iterdir())) == 1
    assert content.packed(content.read(tmp_path / name, "it")) == (tmp_path / name).read_bytes()


def test_other_curves_have_other_names(tmp_path: Path) -> None:
    assert content.write(mixed(1), tmp_path) != content.write(mixed(2), tmp_path)


def test_damage_is_told_in_a_sentence(tmp_path: Path) -> None:
    data = content.packed(flight())
    with pytest.raises(BadFile, match="the edit: the edited curves are gone"):
        content.read(tmp_path / "nothing.npz", "the edit")
    for broken in (b"", data[: len(data) // 2], b"PK" + data[2:40]):
        (tmp_path / "broken.npz").write_bytes(broken)
        with pytest.raises(BadFile, match="damaged"):
            content.read(tmp_path / "broken.npz", "the edit")
