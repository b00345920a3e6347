"""Takes come back as they were recorded; files that were spoilt are refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.errors import BadFile
from understudy.perform.pose_model import ModelWithCharacter, clip_of_rows
from understudy.studio.document import Document, TakeEntry
from understudy.studio.perform import recording
from understudy.studio.perform.recording import CHUNK_FRAMES, RecordedTake, TakeRecorder


def test_a_recording_is_what_was_added() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(CHUNK_FRAMES + 7, 5))
    recording = TakeRecorder(5, 60.0)
    for number, row in enumerate(rows):
        recording.add(row, "calm" if number < 3 else "wild")
    found = recording.to_take()
    np.testing.assert_array_equal(found.rows, rows.astype(np.float32))
    assert (found.labels, found.rate) == (("calm", "wild"), 60.0)
    assert found.seconds == pytest.approx((CHUNK_FRAMES + 6) / 60)


def test_what_is_too_long_is_not_added() -> None:
    recording = TakeRecorder(1, 0.01)  # a hundred seconds a frame
    for _ in range(20):
        recording.add(np.zeros(1), "")
    assert recording.full and recording.frames == 6


def test_written_and_read(tmp_path: Path) -> None:
    recorded = RecordedTake(np.random.default_rng(2).normal(size=(9, 4)).astype(np.float32), 60.0, ("a b", "ü"))
    recording.write_take(recorded, tmp_path / "t.npz")
    found = recording.read_take(tmp_path / "t.npz", "the take 'x'")
    np.testing.assert_array_equal(found.rows, recorded.rows)
    assert (found.rate, found.labels) == (recorded.rate, recorded.labels)


@pytest.mark.parametrize("spoil", ["gone", "cut", "other", "nan"])
def test_spoilt_files_are_refused(tmp_path: Path, spoil: str) -> None:
    place = tmp_path / "t.npz"
    rows = np.full((2, 3), np.nan if spoil == "nan" else 0.0, np.float32)
    recording.write_take(RecordedTake(rows, 60.0, ()), place)
    if spoil == "gone":
        place.unlink()
    elif spoil == "cut":
        place.write_bytes(place.read_bytes()[:100])
    elif spoil == "other":
        np.savez(place, something=np.zeros(3))
    with pytest.raises(BadFile, match=r"^the take 'x': the recording is (missing or )?damaged"):
        recording.read_take(place, "the take 'x'")


def test_a_clip_of_rows_has_every_value_and_only_what_moves(lamp: ModelWithCharacter) -> None:
    rig = lamp.rig
    rows = np.tile(rig.rest, (5, 1)).astype(np.float32)
    moved = rig.channels.offsets[2]
    rows[:, moved] += np.linspace(0.1, 0.5, 5, dtype=np.float32)
    clip = clip_of_rows(rig, "x", rows, 60.0, ["happy"])
    assert len(clip.channels) == 1 and clip.labels == ("happy",)
    np.testing.assert_allclose(rig.pose(clip), rows, atol=1e-7)


def test_names_of_takes() -> None:
    entry = TakeEntry("i", "take 1", "c", "i.npz", 1.0, 60, 60.0)
    assert recording.next_name(Document()) == "take 1"
    assert recording.next_name(Document(takes=(entry,))) == "take 2"
