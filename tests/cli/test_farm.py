"""A folder as input: a manifest of what is done, workers, retries, and the same bytes wherever jobs run."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from understudy.cli import farm

Call = Callable[..., tuple[int, bytes, str]]


@pytest.fixture
def folder(flag_file: Path, tmp_path: Path) -> Path:
    """Five flags and a file that is none."""
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    for name in ("a", "b", "c", "d", "below/e"):
        shutil.copy(flag_file, folder / f"{name}.glb")
    (folder / "bad.glb").write_bytes(b"glTF\2\0\0\0 nothing of the kind")
    return folder


def lines(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]


def contents(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.suffix != ".jsonl"}


def test_what_is_done_is_not_done_again(understudy: Call, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("convert", folder, "-o", out, "--to", "gltf", "--workers", "1")
    code, _, err = understudy(*command)
    assert code == 1 and "bad.glb" in err and len(lines(out)) == 6
    before = {place: place.stat().st_mtime_ns for place in out.rglob("*.gltf")}
    assert len(before) == 5
    code, _, err = understudy(*command)
    assert code == 1 and "6 of 6 files are done already" in err and len(lines(out)) == 6
    assert {place: place.stat().st_mtime_ns for place in out.rglob("*.gltf")} == before
    # what has changed, what is gone, and with --retry what failed, is done again
    shutil.copy(folder / "b.glb", folder / "bad.glb")
    (out / "a.gltf").unlink()
    assert "4 of 6 files are done already" in understudy(*command)[2]
    (folder / "c.glb").write_bytes(b"glTF\2\0\0\0 nothing either")
    assert understudy(*command)[0] == 1 and len(lines(out)) == 9
    assert "5 of 6" in understudy(*command, "--retry")[2] and len(lines(out)) == 10
    # other settings are other work
    assert "done already" not in understudy(*command, "--rate", "12")[2]


def test_rows_of_the_manifest_are_those_of_json(understudy: Call, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("bake", folder, "-o", out, "--json", "--workers", "1")
    first = json.loads(understudy(*command)[1])
    assert [Path(row["input"]).name for row in first] == ["a.glb", "b.glb", "bad.glb", "e.glb", "c.glb", "d.glb"]
    assert "error" in first[2] and first[0]["frames"] == 25
    assert json.loads(understudy(*command)[1]) == first


def test_a_file_beside_the_input_counts_as_part_of_it(understudy: Call, flag_file: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    understudy("convert", flag_file, "-o", folder / "flag.gltf")
    document = json.loads((folder / "flag.gltf").read_text())
    (folder / "flag.bin").write_bytes(base64.b64decode(document["buffers"][0]["uri"].partition(",")[2]))
    document["buffers"][0]["uri"] = "flag.bin"
    (folder / "flag.gltf").write_text(json.dumps(document))
    command = ("convert", folder, "-o", out, "--to", "glb")
    assert understudy(*command)[0] == 0
    assert "1 of 1 files are done already" in understudy(*command)[2]
    os.utime(folder / "flag.bin", (0, 0))
    assert "done already" not in understudy(*command)[2]


def test_a_line_that_was_cut_short_is_done_again(understudy: Call, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("convert", folder, "-o", out, "--to", "glb", "--workers", "1")
    understudy(*command)
    text = (out / "manifest.jsonl").read_text()
    (out / "manifest.jsonl").write_text(text[: len(text) - 40])
    assert "5 of 6" in understudy(*command)[2]


def test_an_interrupted_run_keeps_what_was_done(
    understudy: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    attempt = farm._attempt

    def interrupted(work: farm.Work, pair: farm.Pair) -> dict[str, object]:
        if pair[0].endswith("c.glb"):
            raise KeyboardInterrupt
        return attempt(work, pair)

    command = ("convert", folder, "-o", out, "--to", "gltf", "--workers", "1")
    monkeypatch.setattr(farm, "_attempt", interrupted)
    code, _, err = understudy(*command)
    assert code == 130 and "4 of 6 files are done; the same command does the others" in err
    monkeypatch.setattr(farm, "_attempt", attempt)
    assert "4 of 6 files are done already" in understudy(*command)[2]
    assert len(contents(out)) == 5


def test_a_dry_run_leaves_no_manifest(understudy: Call, folder: Path, tmp_path: Path) -> None:
    understudy("convert", folder, "-o", tmp_path / "out", "--to", "gltf", "--dry-run")
    assert not (tmp_path / "out" / "manifest.jsonl").exists()


@pytest.mark.long
@pytest.mark.parametrize("where", [("--workers", "2"), ("--workers", "2", "--cluster", "dask")])
def test_workers_write_the_same_bytes(understudy: Call, folder: Path, tmp_path: Path, where: tuple[str, ...]) -> None:
    if "--cluster" in where:
        pytest.importorskip("distributed")
    here, there = tmp_path / "here", tmp_path / "there"
    verbs = [("convert", "--to", "glb", "--scale", "2"), ("bake",), ("reduce", "--to", "glb", "--tolerance", "1")]
    for verb, *words in verbs:
        understudy(verb, folder, *words, "-o", here / verb, "--workers", "1")
        code, _, err = understudy(verb, folder, *words, "-o", there / verb, *where)
        assert code == 1 and "bad.glb" in err, "one bad file among good ones"
        assert "a.glb -> " in err and len(lines(there / verb)) == 6
    assert contents(there) == contents(here) and len(contents(here)) == 15
