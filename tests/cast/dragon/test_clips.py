"""The dragon's sheets: the library, every clip that ships, and the page that teaches the grammar."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import pytest
from tests.data_folder import PROJECT

from assets.lint import acting
from understudy import cast
from understudy.cast import archive, sheet_library
from understudy.character import Curves
from understudy.errors import BadFile

CONTROLS = archive.read_controls(cast.arrays_file("dragon"))
SHEETS = {sheet.name: sheet for sheet in sheet_library.dragon_sheets(CONTROLS)}
EXAMPLES = re.findall(r"```sheet\n(.*?)```", (PROJECT / "docs" / "sheets.md").read_text(encoding="utf-8"), re.S)


@lru_cache
def made() -> tuple[Curves, ...]:
    return sheet_library.dragon_curves(CONTROLS)


def test_every_pose_is_a_row_within_the_ranges_and_no_two_faces_are_the_same() -> None:
    rows = cast.poses("dragon", groups=True)
    table = np.stack(list(rows.values()))
    assert table.shape[1] == len(CONTROLS)
    assert ((CONTROLS.low - 1e-9 <= table) & (table <= CONTROLS.high + 1e-9)).all()
    faces = np.stack([row for name, row in rows.items() if "." not in name])
    apart = np.abs(faces[:, None] - faces[None]).max(axis=2) + 9 * np.eye(len(faces))
    assert len(faces) >= 2 and apart.min() > 0.05


def test_a_pose_of_a_group_moves_only_that_group_and_the_lattice() -> None:
    groups = np.array([CONTROLS.group(name) for name in CONTROLS.names])
    for name, row in cast.poses("dragon", groups=True).items():
        if "." in name:
            moved = set(groups[row != CONTROLS.rest])
            assert moved <= {name.partition(".")[0], "lattice"}, name


def test_a_row_holds_a_pose_and_rests_elsewhere() -> None:
    row = sheet_library.pose_row(CONTROLS, {"jaw.open": 9.0, "eyes.pupil.L": 0.8})
    moved = np.flatnonzero(row != CONTROLS.rest)
    assert sorted(CONTROLS.names[i] for i in moved) == ["eyes.pupil.L", "jaw.open"]


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_of_the_page_are_sheets(text: str) -> None:
    alone = sheet_library.Library(sheet_library.of_controls(CONTROLS), {}, {})
    sheet = alone.sheet(text, "docs/sheets.md")
    if sheet.tracks:
        assert [str(finding) for finding in acting.lint(sheet, CONTROLS)] == []
        assert alone.curves(sheet).name == "curious_what"
    else:
        assert sheet.faces["happy"]["jaw.open"] == 14


def test_the_page_has_a_whole_clip_and_a_face() -> None:
    assert len(EXAMPLES) == 2


def test_no_clip_has_an_error() -> None:
    findings = [(sheet.path, finding) for sheet in SHEETS.values() for finding in acting.lint(sheet, CONTROLS)]
    assert [(path, str(finding)) for path, finding in findings if finding.severity == "error"] == []


@pytest.mark.long
def test_no_clip_is_another_one_mirrored_or_retimed() -> None:
    assert [finding.text for finding in acting.copies(made(), CONTROLS)] == []


def test_clips_move_controls_and_nothing_else() -> None:
    assert [curves.name for curves in made()] == list(SHEETS)
    for curves in made():
        assert {channel.kind for channel in curves.channels} == {"controls"}
        assert all(channel.target in CONTROLS for channel in curves.channels)
        assert set(curves.labels) <= set(sheet_library.DRAGON_LABELS)


def test_sheets_stand_where_their_names_and_labels_say(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "clip {name}\nframes 60\nlabels {label}\nhead: 3>9 turn=5\n"
    folder = tmp_path / "head_shake"
    folder.mkdir()
    monkeypatch.setattr(sheet_library, "_folder", lambda member: tmp_path)
    file = folder / "no.txt"
    file.write_text(text.format(name="no", label="head shake"))
    assert [sheet.name for sheet in sheet_library.dragon_sheets(CONTROLS)] == ["no"]
    file.write_text(text.format(name="yes", label="head shake"))
    with pytest.raises(BadFile, match=r"head_shake/no.txt: the clip should be named as its file, but is 'yes'"):
        sheet_library.dragon_sheets(CONTROLS)
    file.write_text(text.format(name="no", label="happy"))
    with pytest.raises(BadFile, match="the labels should include 'head shake', but are happy"):
        sheet_library.dragon_sheets(CONTROLS)
    file.write_text(text.format(name="no", label="head shake"))
    (tmp_path / "happy").mkdir()
    (tmp_path / "happy" / "no.txt").write_text(text.format(name="no", label="happy"))
    with pytest.raises(BadFile, match="there is another clip named 'no'"):
        sheet_library.dragon_sheets(CONTROLS)


def test_a_pose_is_given_in_one_file_only(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "poses").mkdir()
    monkeypatch.setattr(sheet_library, "_folder", lambda member: tmp_path)
    for name in ("faces", "more", "mouth"):
        (tmp_path / "poses" / f"{name}.txt").write_text("pose mouth grin: smile=1\n" if name != "faces" else "")
    with pytest.raises(BadFile, match=r"dragon/poses/mouth.txt: the pose 'mouth.grin' was already given in another"):
        sheet_library.dragon_library.__wrapped__(CONTROLS)
    (tmp_path / "poses" / "more.txt").write_text("")
    (tmp_path / "poses" / "faces.txt").write_text("face glad: mouth.grin")  # read last, whatever its name
    assert sheet_library.dragon_library.__wrapped__(CONTROLS).faces["glad"]["mouth.smile.L"] == 1
