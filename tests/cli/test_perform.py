"""`perform`: a script becomes a file of any kind, the same for the same seed, and mistakes leave nothing behind."""

from __future__ import annotations

import io
import json
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from understudy import formats
from understudy.character import Asset
from understudy.character.rig import DirectRig

SCRIPT = """
rate = 24
label = "bow"
[[do]]
command = "idle"
seconds = 0.5
[[do]]
command = "transition"
label = "sway"
seconds = 0.5
[[do]]
command = "move"
pose = "sway@0.6"
[[do]]
command = "play"
clip = "shake"
start = 0.25
stop = 0.75
[[do]]
command = "mix"
labels = ["bow", "sway"]
weight = 0.5
seconds = 0.5
[[do]]
command = "look"
target = "camera"
[[do]]
command = "one_of"
set = "end"
[[set.end]]
do = [{command = "idle", seconds = 0.25, stillness = 1}]
[[set.end]]
do = [{command = "idle", label = "bow", seconds = 0.25}]
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """All commands, in about three seconds."""
    path = tmp_path / "scene.toml"
    path.write_text(SCRIPT)
    return path


def moved(asset: Asset) -> np.ndarray:
    """(F, V, 3) vertices of the first clip."""
    rig = DirectRig(asset.character())
    return rig.vertices(rig.pose(asset.animations[0]))


def test_every_format_holds_the_same_performance(understudy, acrobat_model: Path, script: Path, tmp_path: Path) -> None:
    found = {}
    for ending in ("glb", "gltf", "npz", "bvh"):
        path = tmp_path / f"x.{ending}"
        code, _, err = understudy("perform", acrobat_model, script, "-o", path)
        assert code == 0, err
        if ending == "npz":
            with np.load(path) as bake:
                found[ending] = bake["vertices"]
        elif ending != "bvh":
            found[ending] = moved(formats.read(path))
    assert len(found["glb"]) == len(found["npz"]) > 48
    assert np.abs(found["glb"] - found["npz"]).max() < 1e-5
    assert np.abs(found["gltf"] - found["glb"]).max() < 1e-6
    assert len(formats.read(tmp_path / "x.bvh").clip()) == len(found["glb"])
    assert np.ptp(found["glb"], axis=0).max() > 0.05  # it moves
    asset = formats.read(tmp_path / "x.glb")
    assert asset.animations[0].name == "scene" and asset.character().name == "acrobat"


def test_a_seed_is_a_take(understudy, acrobat_model: Path, script: Path, tmp_path: Path) -> None:
    takes = {}
    for name, seed in [("a", "3"), ("b", "3"), ("c", "4")]:
        path = tmp_path / f"{name}.glb"
        assert understudy("perform", acrobat_model, script, "-o", path, "--seed", seed, "-q")[0] == 0
        takes[name] = path.read_bytes()
    assert takes["a"] == takes["b"] != takes["c"]


def test_the_report_says_what_was_done(understudy, acrobat_model: Path, script: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    code, out, _ = understudy(
        "perform", acrobat_model, script, "-o", tmp_path / "x.npz", "--report", report, "--json", "--seed", "1"
    )
    told = json.loads(report.read_text())
    assert code == 0 and json.loads(out) == told
    words = ["idle", "transition", "move", "play", "mix", "look", "one_of"]
    assert list(told["commands"]) == words and told["commands"]["idle"] == 2
    commands = [event for event in told["events"] if "place" in event]
    assert [event["place"] for event in commands[:7]] == [f"do {i}" for i in range(1, 8)]
    assert [event["seconds"] for event in commands] == sorted(event["seconds"] for event in commands)
    assert commands[1]["label"] == "sway" and "route" not in commands[1], "another label is entered directly"
    assert told["seams"]["largest_gap_metres"] >= 0
    assert told["frames"] == round(told["seconds"] * 24) and told["seed"] == 1
    assert sum(told["seconds_by_label"].values()) == pytest.approx(told["seconds"], abs=0.01)


def test_pictures(understudy, acrobat_model: Path, script: Path, tmp_path: Path) -> None:
    sheet, video = tmp_path / "x.png", tmp_path / "x.mp4"
    size = ("--size", "64x64", "-q")
    assert understudy("perform", acrobat_model, script, "-o", sheet, "--sheet", "4", *size)[0] == 0
    assert Image.open(sheet).size[0] > 128
    assert understudy("perform", acrobat_model, script, "-o", video, *size)[0] == 0
    assert video.stat().st_size > 1000


def test_standard_streams(understudy, acrobat_model: Path, tmp_path: Path, monkeypatch) -> None:
    text = io.BytesIO(b'[[do]]\ncommand = "idle"\nseconds = 0.5')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(text))
    code, out, _ = understudy("perform", acrobat_model, "-", "-o", "-", "--to", "glb", "-q")
    assert code == 0
    (tmp_path / "x.glb").write_bytes(out)
    assert len(moved(formats.read(tmp_path / "x.glb"))) == 12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('label = "sway"', 'label = "swya"'), "scene.toml, do 2: there is no label 'swya' in the model (did you mean"),
        (("sway@0.6", "sway@6"), "do 3: pose 'sway@6' should lie in clip 'sway'"),
        (("sway@0.6", "grin"), "do 3: there is no pose 'grin' in the model; it has no named poses"),
        (('"play"', '"pla"'), "do 4: there is no command 'pla' (did you mean 'play'?)"),
        (("rate = 24", "rate = 24 fps"), "line 2"),
    ],
)
def test_mistakes_are_told_before_anything_is_done(
    understudy, acrobat_model: Path, script: Path, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    script.write_text(SCRIPT.replace(*change))
    code, _, err = understudy("perform", acrobat_model, script, "-o", tmp_path / "x.glb")
    assert code == 1 and said in err and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["scene.toml"]


def test_where_it_goes_must_be_said(understudy, acrobat_model: Path, script: Path, tmp_path: Path) -> None:
    assert understudy("perform", acrobat_model, script)[0] == 2
    assert understudy("perform", acrobat_model, script, "-o", "-")[0] == 2
    code, _, err = understudy("perform", acrobat_model, script, "-o", tmp_path / "x.docx")
    assert code == 1 and "docx" in err
    code, _, err = understudy("perform", acrobat_model, script, "-o", tmp_path / "none" / "x.glb")
    assert code == 1 and "there is no folder" in err
    code, _, err = understudy("perform", script, script, "-o", tmp_path / "x.glb")
    assert code == 1 and "is not a model" in err


def test_live_frames_arrive_as_bones(understudy, acrobat_model: Path, tmp_path: Path) -> None:
    script = tmp_path / "s.toml"
    script.write_text('rate = 60\n[[do]]\ncommand = "idle"\nseconds = 0.2\n')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(5)
        code, _, err = understudy("perform", acrobat_model, script, "--live", f"127.0.0.1:{receiver.getsockname()[1]}")
        assert code == 0, err
        packets = [receiver.recv(65536) for _ in range(12)]
    assert all(packet.startswith(b"#bundle") and b"/VMC/Ext/Bone/Pos" in packet for packet in packets)
    assert all(bone in packets[0] for bone in (b"hips", b"chest", b"head"))
    assert not list(tmp_path.glob("*.glb"))


@pytest.mark.parametrize("where", ["127.0.0.1:port", ":39539", "127.0.0.1:0", "127.0.0.1:99999"])
def test_live_needs_an_address(understudy, acrobat_model: Path, script: Path, where: str) -> None:
    code, _, err = understudy("perform", acrobat_model, script, "--live", where)
    assert code == 2 and "HOST:PORT" in err
