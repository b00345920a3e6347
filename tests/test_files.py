"""Files are read within bounds and written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from understudy import files
from understudy.errors import BadFile, InvalidInput


def test_interrupted_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "walk.glb"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), files.write_atomically(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["walk.glb"]


def test_finished_writing_replaces_and_keeps_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "walk.glb"
    with files.write_atomically(path) as temporary:
        assert temporary.suffix == ".glb"
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o044  # others may read it, as the user's mask allows


def test_a_full_disk_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    def write() -> None:
        with files.write_atomically(tmp_path / "walk.glb"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InvalidInput, match=r"cannot write .*walk\.glb: No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_bad_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file"):
        files.read_bytes(tmp_path / "none.bvh")
    with pytest.raises(BadFile, match="is a folder"):
        files.read_bytes(tmp_path)
    with pytest.raises(InvalidInput, match="there is no folder"), files.write_atomically(tmp_path / "no" / "x.glb"):
        pytest.fail("never entered")
    (tmp_path / "big").write_bytes(b"12345")
    with pytest.raises(BadFile, match="has 5 bytes, but at most 4"):
        files.read_bytes(tmp_path / "big", largest=4)
    (tmp_path / "binary").write_bytes(b"a\0b")
    with pytest.raises(BadFile, match="binary"):
        files.read_text(tmp_path / "binary")


def test_text_decodes(tmp_path: Path) -> None:
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfH\xc3\xbcfte")
    (tmp_path / "latin").write_bytes(b"H\xfcfte")
    assert files.read_text(tmp_path / "bom") == files.read_text(tmp_path / "latin") == "Hüfte"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "takes").mkdir()
    link = tmp_path / "latest.glb"
    link.symlink_to(tmp_path / "takes" / "walk.glb")
    for text in ("first", "second"):  # the file that it names need not exist
        with files.write_atomically(link) as temporary:
            temporary.write_text(text)
        assert link.is_symlink() and (tmp_path / "takes" / "walk.glb").read_text() == text
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises((InvalidInput, OSError, RuntimeError)), files.write_atomically(tmp_path / "loop"):
        pass


def test_the_longest_names_are_written(tmp_path: Path) -> None:
    for name in ("n" * 251 + ".glb", "n" + "." + "s" * 253):
        with files.write_atomically(tmp_path / name) as temporary:
            temporary.write_text("new")
        assert (tmp_path / name).read_text() == "new"


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    stale, fresh, other = (tmp_path / name for name in (".understudy-a.part.mp4", ".understudy-b.part.mp4", "a.part"))
    for place in (stale, fresh, other):
        place.write_text("half")
    os.utime(stale, (0, 0))
    os.utime(other, (0, 0))
    with files.write_atomically(tmp_path / "walk.glb") as temporary:
        temporary.write_text("new")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted((fresh.name, other.name, "walk.glb"))
