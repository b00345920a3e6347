"""Damaged recordings: whatever bytes come, either a recording is read or one sentence says why not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import UnderstudyError
from understudy.express.manifest import read_manifest, read_recording


def sound_files(folder: Path) -> dict[str, bytes]:
    """A table, an archive and a manifest that are read as they are."""
    take = smile(2, frames=5, peak=2)
    titles = ["frame", "timestamp", "success", *(f"{a}_{n}" for a in "xy" for n in range(68))]
    rows = [[i + 1, i / 30, 1, *frame.T.ravel().round(2)] for i, frame in enumerate(take.points)]
    table = "\n".join([",".join(titles), *(",".join(map(str, row)) for row in rows)])
    np.savez(folder / "face.npz", points=take.points, rate=30.0, names=np.array(take.names))
    manifest = '[[sequence]]\nfile = "face.npz"\nlabel = "joy"\npeak_frame = 2\n'
    return {"a.csv": table.encode(), "a.npz": (folder / "face.npz").read_bytes(), "a.toml": manifest.encode()}


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The same with a piece cut out, doubled, zeroed, or a few bytes changed."""
    first = int(rng.integers(0, len(data)))
    last = min(first + int(rng.integers(1, 40)), len(data))
    match int(rng.integers(0, 5)):
        case 0:
            return data[:first]
        case 1:
            return data[:first] + data[last:]
        case 2:
            return data[:last] + data[first:]
        case 3:
            return data[:first] + bytes(last - first) + data[last:]
        case _:
            changed = bytearray(data)
            for place in rng.integers(0, len(data), 4):
                changed[place] = int(rng.integers(0, 256))
            return bytes(changed)


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.toml"])
def test_damage_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    data, rng = sound_files(tmp_path)[name], np.random.default_rng(0)
    path = tmp_path / name
    told = 0
    for number in range(150):
        path.write_bytes(data if number == 0 else damaged(data, rng))
        try:
            if name.endswith("toml"):
                assert read_manifest(path).sequences
            else:
                assert len(read_recording(path).sequence("joy")) > 1
        except UnderstudyError as error:
            told += 1
            assert number and "\n" not in str(error) and len(str(error)) < 500
    assert 20 < told < 150
