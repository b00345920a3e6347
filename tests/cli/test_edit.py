"""`edit`: what is asked for is done and told, everything else is kept, and bad input leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.edit import puppets

from understudy import formats
from understudy.character import Asset
from understudy.character.rig import rig_of

MOVE = '[[edit]]\nname = "higher"\npoint = "hand"\ntime = 0.25\nby = [0, 0.05, 0]\n'
FAR = '[[edit]]\npoint = "hand"\ntime = 0.25\nto = [9, 9, 9]\n'


@pytest.fixture
def arm_file(tmp_path: Path) -> Path:
    path = tmp_path / "arm.glb"
    formats.write(puppets.asset(), path)
    return path


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "edits.toml"
    path.write_text(text)
    return path


def hand(path: Path, clip: str = "wave", time: float = 0.25) -> np.ndarray:
    asset = formats.read(path)
    rig = rig_of(asset.character())
    return rig.joints(rig.pose(asset.animation(clip), [time]))[0, 3, :3, 3]


def test_an_edit_is_done_and_told(understudy, arm_file: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "out.glb", tmp_path / "report.json"
    code, _, err = understudy("edit", arm_file, script(tmp_path, MOVE), "-o", out, "--report", report)
    assert code == 0 and "edit 1 (higher): move 'rig:hand' at 0.25 s: reached" in err
    np.testing.assert_allclose(hand(out) - hand(arm_file), [0, 0.05, 0], atol=3e-3)
    for key in (0.0, 0.5, 1.0):
        np.testing.assert_allclose(hand(out, time=key), hand(arm_file, time=key), atol=1e-5)
    told = json.loads(report.read_text())
    assert (told["clip"], told["reached"], told["steps"][0]["reached"]) == ("wave", 1, True)
    assert told["steps"][0]["start_distance_mm"] == pytest.approx(50, rel=1e-3)


def test_everything_else_is_kept(understudy, arm_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.glb"
    assert understudy("edit", arm_file, script(tmp_path, 'name = "wave 2"\n' + MOVE), "-o", out, "-q")[0] == 0
    found = formats.read(out)
    assert {animation.name for animation in found.animations} == {"wave", "wave 2", "still"}
    assert len(found.characters) == 1 and found.character().vertex_count == 8
    np.testing.assert_allclose(hand(out, "wave"), hand(arm_file), atol=1e-6)
    assert np.abs(hand(out, "wave 2") - hand(arm_file)).max() > 0.04


def test_json_on_standard_output(understudy, arm_file: Path, tmp_path: Path) -> None:
    code, out, err = understudy("edit", arm_file, script(tmp_path, MOVE + FAR), "-o", tmp_path / "x.glb", "--json")
    row = json.loads(out)
    assert code == 0 and err == ""
    assert [step["reached"] for step in row["steps"]] == [True, False]
    assert row["steps"][1]["blocks"][0]["sentence"]


def test_strict_writes_nothing_where_an_edit_is_blocked(understudy, arm_file: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "out.glb", tmp_path / "report.json"
    words = ["edit", arm_file, script(tmp_path, MOVE + FAR), "-o", out, "--report", report]
    code, _, err = understudy(*words)
    assert code == 0 and "edit 2: move 'rig:hand' at 0.25 s: blocked" in err and out.exists()
    out.unlink()
    code, _, err = understudy(*words, "--strict")
    assert code == 1 and "error: " in err and "nothing was written" in err and not out.exists()
    assert json.loads(report.read_text())["output"] is None


def test_offers_are_told_when_asked_for(understudy, arm_file: Path, tmp_path: Path) -> None:
    pinned = script(tmp_path, MOVE + 'pins = ["fore"]')
    words = ["edit", arm_file, pinned, "-o", tmp_path / "x.glb"]
    assert "release: " not in understudy(*words)[2]
    assert "    release: without the pin of 'rig:fore' it is reached" in understudy(*words, "--offers")[2]


def test_dry_run_tells_and_writes_nothing(understudy, arm_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("edit", arm_file, script(tmp_path, MOVE), "-o", tmp_path / "x.glb", "--dry-run")
    assert code == 0 and "not written" in err and not (tmp_path / "x.glb").exists()


def test_dense_clips_are_edited_or_keyed(understudy, tmp_path: Path) -> None:
    source, out = tmp_path / "dense.bvh", tmp_path / "x.glb"
    formats.write(puppets.asset(dense=True), source)
    name = formats.read(source).animations[0].name
    clip = ["--clip", name]
    edits = script(tmp_path, MOVE + "falloff = 0.15")
    code, _, err = understudy("edit", source, edits, "-o", out, *clip)
    assert code == 0 and "key on every frame" in err and "reached" in err and "for 50 mm asked" in err
    np.testing.assert_allclose(hand(out, name) - hand(source, name), [0, 0.05, 0], atol=3e-3)
    np.testing.assert_allclose(hand(out, name, 0.75), hand(source, name, 0.75), atol=1e-5)
    code, _, err = understudy("edit", source, script(tmp_path, "keys = [0, 0.5, 1]\n" + MOVE), "-o", out, *clip)
    assert code == 0 and "3 keys of" in err


def test_a_report_tells_how_the_motion_changed(understudy, tmp_path: Path) -> None:
    edits = script(
        tmp_path,
        '[[edit]]\npoint = "RightHand"\ntime = 1.4\nby = [0, 0.1, 0]\nfalloff = 0.4\n'
        '[[edit]]\npoint = "RightHand"\ntime = 1.4\nby = [0, -0.1, 0]\nhold_feet = false\nweight = 0.5\n',
    )
    walk, out = data_file("bvh_cmu/02_01.bvh"), tmp_path / "x.glb"
    code, told, err = understudy("edit", walk, edits, "-o", out, "--json")
    assert code == 0, err
    held, loose = json.loads(told)["steps"]
    assert {foot["joint"] for foot in held["held_feet"]} == {"LeftFoot", "RightFoot"} and loose["held_feet"] == []
    assert (held["falloff_seconds"], held["weight"], loose["weight"]) == (0.4, 1.0, 0.5)
    change = held["change"]
    assert change["asked_mm"] == pytest.approx(100, rel=1e-3) and 0.9 < change["overshoot"] < 1.3
    assert 0.9 < change["start"] < 1.4 < change["stop"] < 1.9 and change["extra_turns"] < 0.5
    err = understudy("edit", walk, edits, "-o", out)[2]
    assert "'LeftFoot' and 'RightFoot' stand and are held. It moves by up to" in err
    assert "Peak speed is" in err and "50 % of this change is kept." in err


def test_curves_find_their_character_elsewhere(understudy, arm_file: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "arm.curves.json", tmp_path / "x.glb"
    formats.write(Asset(curves=[puppets.wave()]), source)
    words = ["edit", source, script(tmp_path, MOVE), "-o", out]
    code, _, err = understudy(*words)
    assert code == 1 and "has no character" in err
    assert understudy(*words, "--with", arm_file)[0] == 0
    np.testing.assert_allclose(hand(out) - hand(arm_file), [0, 0.05, 0], atol=3e-3)


def test_a_format_of_one_clip_gets_the_edited_one(understudy, arm_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.npz"
    edits = script(tmp_path, 'name = "other"\n' + MOVE)
    assert understudy("edit", arm_file, edits, "-o", out, "-q")[0] == 0
    with np.load(out) as bake:
        at = np.argmin(np.abs(bake["times"] - 0.25))
        found = bake["joints"][at, list(bake["joint_names"]).index("rig:hand"), :3, 3]
    np.testing.assert_allclose(found - hand(arm_file, time=float(at / 24)), [0, 0.05, 0], atol=3e-3)


def test_what_cannot_be_written_is_said_first(understudy, arm_file: Path, tmp_path: Path) -> None:
    edits = script(tmp_path, MOVE)
    for target, words in ((tmp_path / "x.mp4", "written are"), (tmp_path / "no" / "x.glb", "there is no folder")):
        code, _, err = understudy("edit", arm_file, edits, "-o", target)
        assert code == 1 and words in err and "reached" not in err


def test_folders_are_edited_file_by_file(understudy, arm_file: Path, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    arm_file.rename(source / "arm.glb")
    words = ["edit", source, script(tmp_path, MOVE), "-o", tmp_path / "out", "--report", tmp_path / "r.json"]
    assert understudy(*words)[0] == 2  # needs --to
    assert understudy(*words, "--to", "glb")[0] == 0
    assert (tmp_path / "out" / "arm.glb").exists() and (tmp_path / "r.arm.glb.json").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MOVE.replace("hand", "wing"), "edit 1: there is no joint or point 'wing'"),
        (MOVE.replace("0.25", "7"), "edit 1: the time of the move of 'rig:hand' should be 0 to 1 s"),
        (MOVE.replace("0.25", "nan"), "edit 1: time should be a number, but is nan"),
        (MOVE + 'pins = ["hand"]', "edit 1: 'rig:hand' should be moved at 0.25 s, but a pin keeps"),
        (MOVE + "start = 0.5\nstop = 0.5", "edit 1: stop should come after start"),
        ("keys = [0, 0.5, 0.5]\n" + MOVE, "keys: keys should increase"),
        ("keys = [0, 5]\n" + MOVE, "edits.toml, keys: a key should lie within 'wave', 0 to 1 s, but is at 5"),
        ('clip = "run"\n' + MOVE, "edits.toml, clip: there is no clip 'run'"),
        ('character = "dog"\n' + MOVE, "edits.toml, character: there is no character 'dog'"),
        ("[[edit]", "is not TOML"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    understudy, arm_file: Path, tmp_path: Path, text: str, words: str
) -> None:
    path = script(tmp_path, text)
    code, out, err = understudy("edit", arm_file, path, "-o", tmp_path / "x.glb", "--report", tmp_path / "r.json")
    assert code == 1 and out == b"" and words in err and "Traceback" not in err
    assert err.count("\n") == 1 and err.startswith("error: ")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["arm.glb", "edits.toml"]


def test_standard_input(understudy, arm_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    class Piped:
        buffer = io.BytesIO(MOVE.encode())

    monkeypatch.setattr(sys, "stdin", Piped())
    code, out, _ = understudy("edit", arm_file, "-", "-o", "-", "--to", "glb", "-q")
    assert code == 0 and out[:4] == b"glTF"
    assert understudy("edit", "-", "-", "-o", tmp_path / "x.glb")[0] == 2


REACH = """
clip = "Walk"
keys = [0, 0.3125, 0.625, 0.9375, 1.25]

[[edit]]
point = "Fist.L"
time = 0.47
by = [0.1, 0.25, 0.2]
pins = ["Hips"]
"""


def test_a_real_character_reaches(understudy, tmp_path: Path) -> None:
    source = data_file("gltf_quaternius/platformer_game_pack_Character.glb")
    out, edits = tmp_path / "out.glb", script(tmp_path, REACH)
    code, text, _ = understudy("edit", source, edits, "-o", out, "--strict", "--json")
    step = json.loads(text)["steps"][0]
    assert code == 0 and step["reached"] and step["distance_mm"] < 3 and step["drift_mm"] < 3
    before, after = formats.read(source), formats.read(out)
    assert [each.name for each in after.animations] == [each.name for each in before.animations]
    untouched = before.animation("Run").sample([0.1, 0.3])
    np.testing.assert_allclose(after.animation("Run").sample([0.1, 0.3]), untouched, atol=1e-6)
