"""The registry: which file is which, options, and errors that name the file."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from understudy.character import Asset, Channel, Clip
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.formats import FORMATS, format_of, read, readable, write


def markers() -> Asset:
    return Asset(clips=[Clip("take", [Channel("LFHD", "marker")], np.zeros((2, 3)), 100)])


def test_every_format_has_its_module_and_verbs() -> None:
    endings = [ending for entry in FORMATS for ending in entry.endings]
    assert len(endings) == len(set(endings))
    for entry in FORMATS:
        module = importlib.import_module(f".{entry.module}", "understudy.formats")
        assert callable(getattr(module, entry.reader))
        assert not entry.writes or callable(module.write)


def test_endings_in_any_case() -> None:
    assert format_of("WALK.BVH").name == "bvh"
    assert readable("x.GLB") and not readable("x.abc")
    with pytest.raises(Unsupported, match=r"'\.abc' is not one .* known: \.glb"):
        format_of("x.abc")


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(Unsupported) as caught:
        write(markers(), tmp_path / "take.glb")
    assert caught.value.path == str(tmp_path / "take.glb")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadFile, match="no such file"):
        read(tmp_path / "none.glb")
    with pytest.raises(BadFile, match="is a folder, but a file was expected"):
        read(tmp_path)
    with pytest.raises(Unsupported, match="read but not written"):
        write(markers(), tmp_path / "take.obj")


def test_options_that_do_not_apply_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(InvalidInput, match="'skeleton' does not apply to obj files"):
        read(tmp_path / "x.obj", skeleton="x.asf")
    assert read(tmp_path / "x.obj", skeleton=None).character().vertex_count == 3
