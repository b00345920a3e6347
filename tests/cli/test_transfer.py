"""`understudy transfer`: whole runs on small files, and one sentence for everything that cannot be used."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer.small import RATE, actor, hopper

from understudy import cast
from understudy.character import Asset, Character, Clip
from understudy.cli.transfer_work import TransferRequest, open_motions
from understudy.formats import read, write

Run = Callable[..., tuple[int, str, str]]
PAIR = '[[pair]]\nframe = {frame}\npose = {{clip = "keys", time = {time:.4f}}}\n'


@pytest.fixture
def run_cli(understudy: Callable[..., tuple[int, bytes, str]]) -> Run:
    """The command line, with its output as text."""

    def call(*words: str) -> tuple[int, str, str]:
        code, out, told = understudy(*words)
        return code, out.decode(), told

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An actor's motion, a character with its own clip of key poses, and pairs of both."""
    write(actor(), tmp_path / "play.glb")
    write(hopper(), tmp_path / "hopper.glb")
    (tmp_path / "pairs.toml").write_text(_pairs(range(2, 90, 12)))
    return tmp_path


def _pairs(frames: range) -> str:
    return "\n".join(PAIR.format(frame=frame, time=frame / RATE) for frame in frames)


def transfer(run_cli: Run, folder: Path, *more: str, motion: str = "play.glb") -> tuple[int, str, str]:
    given = ("transfer", str(folder / motion), "--to", str(folder / "hopper.glb"))
    return run_cli(*given, "--keys", str(folder / "pairs.toml"), *more)


def test_a_motion(run_cli: Run, folder: Path) -> None:
    out, report = folder / "out.glb", folder / "r.json"
    code, _, told = transfer(run_cli, folder, "-o", str(out), "--no-physics", "--report", str(report))
    assert code == 0, told
    asset = read(out)
    assert asset.character().name == "hopper" and asset.clip().duration == pytest.approx(89 / RATE, abs=1e-3)
    figures = json.loads(report.read_text())
    assert figures["motions"][0]["frames"] == 90 and figures["motions"][0]["mapping"] in ("shared GPLVM", "GP")


def test_at_another_rate_pairs_keep_their_frames(run_cli: Run, folder: Path) -> None:
    code, out, told = transfer(run_cli, folder, "-o", str(folder / "o.glb"), "--no-physics", "--rate", "10", "--json")
    assert code == 0, told
    assert json.loads(out)["motions"][0]["frames"] == 30


def test_the_report_counts_frames_as_pairs_do_and_compares(run_cli: Run, folder: Path) -> None:
    more = ("-o", str(folder / "out.glb"), "--rate", "12", "--report", str(folder / "r.json"))
    assert transfer(run_cli, folder, *more)[0] == 0
    report = json.loads((folder / "r.json").read_text())
    moments = report["motions"][0]["suggested"] + report["motions"][0]["least_certain"]
    assert all(abs(each["frame"] - RATE * each["time"]) < 0.6 for each in moments)
    assert {"GP", "shared GPLVM"} == set(report["motions"][0]["left_out_mm"])


def test_a_folder_is_one_batch(run_cli: Run, folder: Path) -> None:
    motions = folder / "motions"
    motions.mkdir()
    for name in ("anger", "joy"):
        write(actor(1.0 if name == "joy" else 3.0), motions / f"{name}.glb")
    (motions / "broken.bvh").write_text("HIERARCHY\nROOT")
    named = _pairs(range(2, 90, 12)).replace("frame", 'motion = "anger"\nframe')
    (folder / "pairs.toml").write_text(named)
    out = folder / "out"
    code, _, told = transfer(run_cli, folder, "-o", str(out), "--no-physics", "--workers", "2", motion="motions")
    assert code == 1 and "broken.bvh" in told
    assert sorted(path.name for path in out.iterdir()) == ["anger.glb", "joy.glb"]


def test_suggestions(run_cli: Run, folder: Path) -> None:
    given = ("transfer", "suggest", str(folder / "play.glb"), "--to", str(folder / "hopper.glb"), "--count", "3")
    code, out, _ = run_cli(*given)
    assert code == 0 and len(out.splitlines()) == 4 and "play" in out
    code, out, _ = run_cli(*given, "--keys", str(folder / "pairs.toml"), "--json")
    rows = json.loads(out)
    assert code == 0 and [row["gain"] for row in rows] == sorted((row["gain"] for row in rows), reverse=True)
    assert rows[0]["uncertainty_mm"] > 0


def test_a_starting_pose_makes_a_pair(run_cli: Run, folder: Path) -> None:
    lines = []
    for frame in (5, 30, 60):
        pose = folder / f"pose_{frame}.glb"
        given = ("transfer", "pose", str(folder / "play.glb"), "--to", str(folder / "hopper.glb"), "-q")
        code, out, told = run_cli(*given, "--frame", str(frame), "-o", str(pose))
        assert code == 0, told
        lines.append(out)
    (folder / "pairs.toml").write_text("\n".join(lines))
    code, _, told = transfer(run_cli, folder, "-o", str(folder / "out.glb"), "--no-physics")
    assert code == 0, told


def test_live_lines(run_cli: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(actor(0.5), folder / "stream.bvh")
    write(actor(), folder / "play.bvh")
    (folder / "pairs.toml").write_text(_pairs(range(2, 90, 12)).replace("frame", 'motion = "play"\nframe'))
    (folder / "play.glb").unlink()
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "stream.bvh").read_text()))
    given = ("--to", str(folder / "hopper.glb"), "--keys", str(folder / "pairs.toml"))
    code, out, told = run_cli("transfer", "-", "--live", *given)
    assert code == 0, told
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 15 and set(rows[0]["joints"]) >= {"Base", "Trunk", "Head"}
    assert all(len(joint) == 7 for joint in rows[0]["joints"].values())


def test_live_lines_of_a_long_file_and_of_other_points(
    run_cli: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(actor(), folder / "play.bvh")
    (folder / "play.glb").unlink()
    given = ("transfer", "-", "--live", "--to", str(folder / "hopper.glb"), "--keys", str(folder / "pairs.toml"))
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "play.bvh").read_text()))
    code, _, told = run_cli(*given)
    assert code == 1 and "pair 1: should name the file of its motion" in told
    (folder / "pairs.toml").write_text(_pairs(range(2, 90, 12)).replace("frame", 'motion = "play"\nframe'))
    text = (folder / "play.bvh").read_text().replace("Frames: 90", "Frames: 9000")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    code, out, told = run_cli(*given)
    assert code == 0 and len(out.splitlines()) == 90, told
    markers = '{"markers": ["a", "b", "c"]}\n{"points": [[0, 0, 0], [0, 1, 0], [1, 0, 0]]}\n'
    monkeypatch.setattr("sys.stdin", io.StringIO(markers))
    code, _, told = run_cli(*given)
    assert code == 1 and "points of the actor of the pairs, but has 3" in told


def failing(run_cli: Run, folder: Path, *more: str, motion: str = "play.glb") -> str:
    """The one sentence of a run that fails."""
    code, _, told = transfer(run_cli, folder, "-o", str(folder / "out.glb"), *more, motion=motion)
    assert code == 1 and not (folder / "out.glb").exists()
    sentences = [line for line in told.splitlines() if line.startswith("error: ")]
    assert len(sentences) == 1
    return sentences[0]


def test_no_pairs(run_cli: Run, folder: Path) -> None:
    (folder / "pairs.toml").write_text("")
    assert "at least one, but there are none" in failing(run_cli, folder)
    (folder / "pairs.toml").unlink()
    assert "no such file of pose pairs" in failing(run_cli, folder)
    given = ("transfer", str(folder / "play.glb"), "--to", str(folder / "hopper.glb"), "-o", str(folder / "out.glb"))
    code, _, told = run_cli(*given)
    assert code == 1 and "has no bones for" in told and "--keys" in told  # no arms, no legs: pairs are needed


def test_without_pairs_a_person_moves_another_person(run_cli: Run, tmp_path: Path) -> None:
    out, report, given = tmp_path / "out.glb", tmp_path / "r.json", tmp_path / "map.toml"
    words = ("transfer", "actor", "--clip", "surprise", "--clip", "fear", "--to", str(tmp_path / "person.glb"))
    person = cast.load("actor").character()
    write(Asset([person]), tmp_path / "person.glb")
    given.write_text('[bones]\nLeftToes = ""\n')
    more = ("--size", "0.5", "--map", str(given), "--rate", "12", "--report", str(report))
    code, _, told = run_cli(*words, "-o", str(out), *more)
    assert code == 0, told
    assert "left leg   LeftUpLeg, LeftLeg, LeftFoot, LeftToeBase -> LeftUpLeg, LeftLeg, LeftFoot\n" in told
    assert [clip.name for clip in read(out).animations] == ["surprise", "fear"]
    motion = json.loads(report.read_text())["motions"][0]
    assert motion["mapping"] == "bones" and motion["size"] == 0.5
    assert motion["bones"]["joints"]["LeftFoot"] == {"joint": "LeftFoot", "by": "name", "certainty": 0.9}
    given.write_text('[bones]\nLeftFoot = ""\n')
    code, _, told = run_cli(*words, "-o", str(out), "--map", str(given))
    assert code == 1 and "has no bones for the left leg" in told
    given.write_text('[bones]\nLeftPaw = "LeftFoot"\n')
    code, _, told = run_cli(*words, "-o", str(out), "--map", str(given))
    assert code == 1 and "LeftPaw" in told


def test_without_pairs_markers_move_a_person(run_cli: Run, tmp_path: Path) -> None:
    write(Asset([cast.load("actor").character()]), tmp_path / "person.glb")
    words = ("transfer", str(data_file("c3d_btk/Gait.c3d")), "--to", str(tmp_path / "person.glb"), "--no-physics")
    code, _, told = run_cli(*words, "-o", str(tmp_path / "out.glb"))
    assert code == 0 and "fitted to 32 markers" in told
    assert len(read(tmp_path / "out.glb").animations) == 1


def test_one_pair(run_cli: Run, folder: Path) -> None:
    (folder / "pairs.toml").write_text(_pairs(range(2, 3)))
    assert "at least 2, but there is one" in failing(run_cli, folder)


def test_a_frame_outside_the_motion(run_cli: Run, folder: Path) -> None:
    (folder / "pairs.toml").write_text(_pairs(range(2, 40, 12)) + PAIR.format(frame=90, time=0))
    assert "from 0 to 89, but names 90" in failing(run_cli, folder)


def test_a_pose_of_another_character(run_cli: Run, folder: Path) -> None:
    write(actor(), folder / "other.glb")
    wrong = '[[pair]]\nframe = 3\npose = {file = "other.glb", clip = "play", time = 0.5}\n'
    (folder / "pairs.toml").write_text(_pairs(range(2, 40, 12)) + wrong)
    assert "other" in failing(run_cli, folder) or "Hips" in failing(run_cli, folder)


def test_pairs_of_different_actors(run_cli: Run, folder: Path) -> None:
    write(hopper(), folder / "dance.glb")
    wrong = '[[pair]]\nmotion = "dance"\nframe = 3\npose = {clip = "keys", time = 0.5}\n'
    named = _pairs(range(2, 40, 12)).replace("frame", 'motion = "play"\nframe')
    (folder / "pairs.toml").write_text(named + wrong)
    assert "one character" in failing(run_cli, folder)


def test_nothing_to_stand_on(run_cli: Run, folder: Path) -> None:
    asset = hopper(lifted=3.0)
    write(asset, folder / "hopper.glb")
    assert "nothing to stand on" in failing(run_cli, folder)


def test_a_motion_in_other_units_is_guessed_and_said(run_cli: Run, folder: Path) -> None:
    write(actor(scale=100.0), folder / "play.glb")
    code, _, told = transfer(run_cli, folder, "-o", str(folder / "out.glb"), "--no-physics")
    assert code == 0 and "centimetres" in told
    figures = read(folder / "out.glb").clip()
    assert np.abs(figures.values).max() < 5


def test_physics_is_the_same_whatever_the_units(run_cli: Run, folder: Path) -> None:
    found = []
    for scale in (1.0, 100.0):
        write(actor(scale=scale), folder / "play.glb")
        assert transfer(run_cli, folder, "-o", str(folder / "out.npz"))[0] == 0
        found.append(read(folder / "out.npz").clip().values)
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


def test_a_motion_that_stands_still_has_no_frames_to_map(run_cli: Run, folder: Path) -> None:
    asset = actor()
    one = Clip("play", asset.clips[0].channels, asset.clips[0].values[:1], RATE)
    write(Asset([Character("actor", asset.character().skeleton)], [one]), folder / "still.glb")
    named = _pairs(range(2, 40, 12)).replace("frame", 'motion = "play"\nframe')
    (folder / "pairs.toml").write_text(named)
    assert "two frames" in failing(run_cli, folder, motion="still.glb")


def test_the_units_of_a_file_whose_reader_guesses(run_cli: Run, folder: Path) -> None:
    write(actor(), folder / "play.bvh")
    (folder / "play.glb").unlink()
    sizes = []
    for unit in ("cm", "mm"):
        out = folder / f"{unit}.npz"
        code, _, told = transfer(run_cli, folder, "-o", str(out), "--no-physics", "--units", unit, motion="play.bvh")
        assert code == 0 and "were taken to be" not in told, told
        code, told, _ = run_cli("transfer", "suggest", str(folder / "play.bvh"), "--to", "lamp", "--units", unit)
        assert code == 0
        sizes.append(open_motions(str(folder / "play.bvh"), TransferRequest(units=unit))[1]["play"].points)
    np.testing.assert_allclose(sizes[0], 10 * sizes[1], atol=1e-9)


def test_any_performer_plays_for_the_cast(run_cli: Run, folder: Path) -> None:
    given = ("transfer", str(folder / "play.glb"), "--to", "lamp", "-o", str(folder / "out.glb"), "--no-physics")
    code, _, told = run_cli(*given)
    assert code == 0 and "carried over to the actor of the pairs" in told
    assert read(folder / "out.glb").animations[0].duration > 1


def test_suggested_poses_are_one_file_that_is_read_back_as_pairs(run_cli: Run, folder: Path) -> None:
    poses, play, hero = folder / "poses.glb", str(folder / "play.glb"), str(folder / "hopper.glb")
    keys = ("--keys", str(folder / "pairs.toml"))
    code, out, told = run_cli("transfer", "pose", play, "--to", hero, "--suggested", "4", *keys, "-o", str(poses))
    assert code == 0, told
    animation = read(poses).animations[0]
    assert len(animation.moments) == 4 and all(" frame " in name for name in animation.moments)
    out_file = str(folder / "o.glb")
    for drop in (False, True):  # with markers, and with what a program that drops them leaves
        if drop:
            bare = Clip(animation.name, animation.channels, animation.sample([0.0, 1.0, 2.0, 3.0]), 1.0)
            write(Asset([read(poses).character()], [bare]), poses)
        code, out, told = run_cli(
            "transfer", play, "--to", hero, "--keys", str(poses), "-o", out_file, "--json", "--no-physics"
        )
        assert code == 0 and json.loads(out)["pairs"] == 4, told
    poses.with_suffix(".toml").unlink()
    code, _, told = run_cli("transfer", play, "--to", hero, "--keys", str(poses), "-o", out_file)
    assert code == 1 and "markers that say which frame" in told
