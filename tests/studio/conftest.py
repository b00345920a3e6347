"""A studio to talk to, one for a file of tests, with two small characters in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.acrobat import acrobat
from tests.fuzz.seeds import small_asset
from tests.studio.talking import Studio

from understudy import formats
from understudy.studio.security import AllowedFolders
from understudy.studio.session import Session


@pytest.fixture(scope="session")
def opened_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the studio may open files of."""
    folder = tmp_path_factory.mktemp("opened")
    formats.write(acrobat(), folder / "acrobat.glb")
    formats.write(small_asset(), folder / "small.glb")
    (folder / "broken.glb").write_bytes(b"glTF\2\0\0\0 nothing of the kind")
    (folder.parent / "secret.bvh").write_text("HIERARCHY")
    return folder


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, opened_folder: Path) -> Iterator[Studio]:
    """With the acrobat on stage."""
    folders = AllowedFolders()
    folders.allow([opened_folder])
    session = Session(tmp_path_factory.mktemp("project"), folders)
    with Studio(session) as studio:
        with studio.page() as page:
            page.ask("open", path="acrobat.glb")
        yield studio
