"""`info`: the documented JSON, readable text, folders, and errors as one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.character.rig.layered_character import character
from tests.cli.conftest import flag

from understudy.character import Asset, Channel, Character, Clip, Curve, Curves
from understudy.cli.info import summary
from understudy.formats import write


def test_json_has_the_documented_shape(understudy, flag_file: Path) -> None:
    code, out, _ = understudy("info", flag_file, "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["format"] == "glb"
    counts = {"joints": 2, "vertices": 4, "triangles": 2}
    surface = {"height": 1.0, "shapes": ["wave"], "materials": [], "textures": []}
    facing = {"up": "+y", "facing": "+z", "facing_by": []}
    assert facts["characters"] == [{"name": "flag", **counts, **surface, **facing}]
    clip = facts["clips"][0]
    assert (clip["name"], clip["duration"], clip["rate"], clip["frames"], clip["channels"]) == ("bend", 1, 24, 25, 2)
    assert isinstance(facts["notes"], list)


def test_text_names_everything(understudy, flag_file: Path) -> None:
    code, out, _ = understudy("info", flag_file)
    assert code == 0
    assert all(word in out.decode() for word in ("flag", "2 joints", "4 vertices", "wave", "bend", "25 frames"))


def test_folder_lists_each_file_and_fails_for_the_bad_one(understudy, flag_file: Path) -> None:
    (flag_file.parent / "broken.bvh").write_text("HIERARCHY\nROOT")
    (flag_file.parent / "readme.md").write_text("not ours")
    code, out, err = understudy("info", flag_file.parent, "--json")
    rows = json.loads(out)
    assert code == 1
    assert [Path(row["file"]).name for row in rows] == ["broken.bvh", "flag.glb"]
    assert "broken.bvh" in rows[0]["error"] and "broken.bvh" in err


def test_bad_input_is_one_sentence(understudy, tmp_path: Path) -> None:
    (tmp_path / "x.glb").write_bytes(b"glTF but not really")
    for words in (
        ["info", tmp_path / "none.glb"],
        ["info", tmp_path / "x.glb"],
        ["info", tmp_path],
        ["info", "nobody"],
        ["info", tmp_path / "x.xyz"],
    ):
        if words[1] == tmp_path:
            (tmp_path / "x.glb").unlink()
        code, out, err = understudy(*words)
        assert code == 1, words
        assert out == b""
        assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err


def test_standard_input(flag_file: Path) -> None:
    command = [sys.executable, "-m", "understudy", "info", "-", "--json"]
    done = subprocess.run([*command, "--from", "glb"], input=flag_file.read_bytes(), capture_output=True, check=True)
    assert json.loads(done.stdout)["characters"][0]["name"] == "flag"
    lost = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert lost.returncode == 2 and b"--from" in lost.stderr
    for odd in ("../glb", "zip", ""):
        lost = subprocess.run([*command, "--from", odd], input=b"", capture_output=True, check=False)
        assert lost.returncode == 2 and b"Traceback" not in lost.stderr
    cut = subprocess.run([*command, "--from", "glb"], input=b"glTF", capture_output=True, check=False)
    assert cut.returncode == 1 and cut.stderr.startswith(b"error: standard input: ")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_names_that_the_output_cannot_show(flag_file: Path, encoding: str) -> None:
    path = flag_file.rename(flag_file.with_name(os.fsdecode("歩く".encode() + b"\xe9.glb")))
    command = [sys.executable, "-m", "understudy", "info", str(path)]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0 and b"\\udce9" in done.stdout
    listed = subprocess.run([*command[:-1], "--json", path.parent], env=environment, capture_output=True, check=False)
    assert listed.returncode == 0
    assert json.loads(listed.stdout.decode(encoding))[0]["file"] == str(path)


def test_built_in_character(understudy) -> None:
    code, out, _ = understudy("info", "lamp", "--json")
    facts = json.loads(out)
    assert code == 0
    assert "hop" in [clip["name"] for clip in facts["clips"]]


def test_options_reach_the_files_of_a_folder_that_know_them(understudy, flag_file: Path) -> None:
    understudy("convert", flag_file, "-o", flag_file.parent / "flag.bvh")
    code, out, _ = understudy("info", flag_file.parent, "--scale", "0.5", "--json")
    assert code == 0
    assert [row["format"] for row in json.loads(out)] == ["bvh", "glb"]


def test_an_animation_of_a_year_is_still_described(understudy, tmp_path: Path) -> None:
    long = Curves("year", [Curve(Channel("pole", "translation"), [0, 3.2e7], [[0, 0, 0], [1, 0, 0]])])
    write(Asset(flag().characters, curves=[long]), tmp_path / "year.glb")
    code, out, _ = understudy("info", tmp_path / "year.glb", "--json")
    assert code == 0
    assert json.loads(out)["clips"][0]["frames"] > 700_000_000
    code, _, err = understudy("bake", tmp_path / "year.glb", "-o", tmp_path / "year.npz")
    assert code == 1 and "frames; at most" in err


def test_controls_of_a_layered_character(understudy) -> None:
    code, out, _ = understudy("info", "dragon", "--json", "--controls")
    facts = json.loads(out)
    character = facts["characters"][0]
    assert code == 0
    assert facts["controls"] == character["controls"] == len(character["control_list"]) == 742
    assert sum(character["controls_by_region"].values()) == sum(character["controls_by_layer"].values()) == 742
    assert {row["name"]: row for row in character["control_list"]}["jaw.open"] == {
        **{"name": "jaw.open", "region": "jaw", "layer": "bones", "unit": "degrees"},
        **{"low": -2.0, "rest": 0.0, "high": 38.0, "about": "the jaw down"},
    }
    text = understudy("info", "dragon")[1].decode()
    assert "controls (742) by layer: bones" in text and "jaw.open" not in text
    assert "the jaw down" in understudy("info", "dragon", "--controls")[1].decode()


def test_controls_are_counted_on_top_only_where_one_character_has_them() -> None:
    one = character()
    two = [one, Character("twin", one.skeleton, one.parts, layers=one.layers)]
    plain = Character("plain", one.skeleton, one.parts)
    assert summary(Asset([one, plain]))["controls"] == len(one.layers.controls)
    assert "controls" not in summary(Asset(two)) and "controls" not in summary(Asset([plain]))["characters"][0]


def test_what_a_clip_is_about() -> None:
    clip = Clip(
        "nod", [Channel("a", "controls", ("b",))], [[0]], 24, labels=["yes"], about="it nods", moments={"down": 0.5}
    )
    facts = summary(Asset(clips=[clip]))["clips"][0]
    assert (facts["labels"], facts["about"], facts["moments"]) == (["yes"], "it nods", {"down": 0.5})


def test_skins_and_retargeters_are_told_by_their_headers(understudy, tmp_path) -> None:
    import understudy as us

    lamp = us.load("lamp")
    pairs = us.PosePairs.read("lamp", us.load("actor"), lamp).subset([0, 9, 30])
    us.save(us.Retargeter(lamp, iterations=2).fit(pairs), tmp_path / "lamp.understudy")
    code, out, _ = understudy("info", tmp_path / "lamp.understudy")
    assert code == 0 and "retargeter to lamp, 3 pose pairs" in out.decode()
    us.save(us.Skin("dual").fit(us.Examples.read("cylinder")), tmp_path / "arm.understudy")
    code, out, _ = understudy("info", tmp_path / "arm.understudy", "--json")
    assert code == 0 and '"method": "dual"' in out.decode()
