"""Export: every format, the same motion, under safe names."""

from __future__ import annotations

from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.studio.talking import Refused, Studio

from understudy import formats
from understudy.character import rig

WRITTEN = sorted(ending for entry in formats.FORMATS if entry.writes for ending in entry.endings)


def fetched(studio: Studio, answer: dict[str, object], folder: Path) -> Path:
    """The file of an answer, as the browser would save it."""
    found = httpx.get(f"{studio.address}{answer['url']}")
    assert found.status_code == 200 and len(found.content) == answer["size"]
    assert str(answer["name"]) in found.headers["content-disposition"]
    place = folder / str(answer["name"])
    place.write_bytes(found.content)
    return place


@pytest.mark.parametrize("ending", [ending for ending in WRITTEN if ending not in (".csv", ".vrm", ".vrma")])
def test_every_format_can_be_read_back(studio: Studio, tmp_path: Path, ending: str) -> None:
    entry = studio.session.document.characters[0]
    with studio.page() as page:
        answer = page.ask("export", what="clip", target=f"{entry.id}/bow", format=ending)
    asset = formats.read(fetched(studio, answer, tmp_path))
    own = studio.session.assets.get(entry.id).rig
    shown = own.joints(own.pose(studio.session.assets.animation(entry, entry.clips[0])))
    assert len(asset.animations) == 1
    again = rig.rig_of(asset.character()) if asset.characters else own
    found = again.joints(again.pose(asset.animations[0]))
    assert len(found) == len(shown)
    for name in ("hips", "chest", "head"):
        here, there = (each.character.skeleton.names.index(name) for each in (own, again))
        np.testing.assert_allclose(found[:, there, :3, 3], shown[:, here, :3, 3], atol=2e-3)


def test_a_character_with_all_its_clips(studio: Studio, tmp_path: Path) -> None:
    entry = studio.session.document.characters[0]
    with studio.page() as page:
        answer = page.ask("export", what="character", target=entry.id, format="glb")
        assert any(event["kind"] == "job" and event["state"] == "done" for event in page.events)
    names = {animation.name for animation in formats.read(fetched(studio, answer, tmp_path)).animations}
    assert names == {"bow", "sway", "shake"}


@pytest.mark.parametrize(
    ("what", "format", "sentence"),
    [
        ("character", "exe", "nothing can be exported as"),
        ("character", "c3d", "nothing can be exported as"),
        ("character", "../../x", "nothing can be exported as"),
        ("character", "csv", "csv"),
        ("character", "vrm", "needs a humanoid"),
        ("script", "toml", "no such script"),
        ("model", "understudy", "cannot be exported"),
        ("edit", "glb", "no such edit"),
    ],
)
def test_what_cannot_be_written_is_refused(studio: Studio, what: str, format: str, sentence: str) -> None:
    with studio.page() as page, pytest.raises(Refused, match=sentence):
        page.ask("export", what=what, target=studio.session.document.characters[0].id, format=format)


def test_names_are_safe_in_an_address(studio: Studio, tmp_path: Path) -> None:
    id = studio.session.document.characters[0].id
    with studio.page() as page:
        page.ask("rename", what="character", target=id, name='../<b>"Ünï"\\ ..')
        answer = page.ask("export", what="character", target=id, format="bvh")
        page.ask("undo")
    assert fetched(studio, answer, tmp_path).parent == tmp_path
    assert set(answer["name"]) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-() +")


def test_old_exports_are_cleared_away(studio: Studio) -> None:
    from understudy.studio import export

    folder = studio.session.folder / "exports"
    for number in range(2 * export.MAX_KEPT_EXPORTS):
        (folder / f"{number}.glb").write_bytes(b"x")
    export._remove_old_exports(folder)
    assert len(list(folder.iterdir())) == export.MAX_KEPT_EXPORTS
