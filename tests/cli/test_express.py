"""`express`: takes become a graph, labels a performance in every kind of file, and mistakes one sentence."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from tests.express.acting.puppet import puppet

from understudy import formats
from understudy.cli.app import run
from understudy.express.graph import expression_graph
from understudy.express.manifest import read_recording

Command = Callable[..., tuple[int, bytes, str]]
MANIFEST = """
[regions]
mouth = ["jawOpen", "mouth*"]
brows = ["brow*"]
"""
SEQUENCE = """
[[sequence]]
file = "{name}.csv"
label = "{label}"
peak = 0.5
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The puppet as a GLB, its takes as Live Link CSVs, and a manifest of them."""
    place = tmp_path_factory.mktemp("express")
    asset = puppet(heads=False)
    formats.write(asset, place / "puppet.glb")
    manifest = MANIFEST
    for clip in asset.clips:
        name = clip.name.replace(" ", "_")
        formats.write(type(asset)(clips=[clip]), place / f"{name}.csv")
        manifest += SEQUENCE.format(name=name, label=clip.labels[0])
    (place / "takes.toml").write_text(manifest)
    return place


@pytest.fixture(scope="session")
def graph_file(folder: Path) -> Path:
    words = [
        "express",
        "build",
        folder / "takes.toml",
        "-o",
        folder / "puppet.understudy",
        "--compression",
        "0.2",
        "-q",
    ]
    assert run([str(word) for word in words]) == 0
    return folder / "puppet.understudy"


def test_a_manifest_becomes_a_graph(understudy: Command, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "g.understudy"
    code, out, _ = understudy("express", "build", folder / "takes.toml", "-o", target, "--compression", 0.2, "--json")
    told = json.loads(out)
    assert code == 0 and told["labels"] == ["happy", "shocked"] and told["takes"] == 6
    assert [region["name"] for region in told["regions"]] == ["mouth", "brows"]
    assert expression_graph.load(target).labels == ("happy", "shocked")


def test_a_character_with_labelled_clips_becomes_a_graph(understudy: Command, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "g.understudy"
    code, _, err = understudy("express", "build", folder / "puppet.glb", "-o", target, "--compression", 0.2)
    assert code == 0 and "labels: happy, shocked" in err
    assert expression_graph.load(target).labels == ("happy", "shocked")


@pytest.mark.parametrize("ending", ["glb", "gltf", "csv", "npz"])
def test_labels_become_a_file(understudy: Command, graph_file: Path, folder: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"out.{ending}"
    asked = ("express", "act", graph_file, "shocked", "happy:0.5", "--character", folder / "puppet.glb")
    code, out, err = understudy(*asked, "-o", target, "--json")
    told = json.loads(out)
    assert code == 0, err
    assert told["labels"] == ["shocked", "happy:0.5"] and list(told["moments"]) == told["labels"]
    if ending == "npz":
        assert len(read_recording(target)) == told["frames"]
    else:
        assert len(formats.read(target).clip()) == told["frames"]


def test_the_same_seed_is_the_same_file(understudy: Command, graph_file: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert understudy("express", "act", graph_file, "happy", "-o", tmp_path / f"{name}.npz", "--seed", seed)[0] == 0
    points = [np.load(tmp_path / f"{name}.npz")["points"] for name in "abc"]
    assert np.array_equal(points[0], points[1]) and not np.array_equal(points[0], points[2])


def test_a_crowd_is_one_file(understudy: Command, graph_file: Path, folder: Path, tmp_path: Path) -> None:
    asked = ("express", "act", graph_file, "happy", "--crowd", 4, "--character", folder / "puppet.glb", "-o")
    assert understudy(*asked, tmp_path / "crowd.npz")[0] == 0
    with np.load(tmp_path / "crowd.npz") as crowd:
        assert crowd["points"].shape[:2] == (4, crowd["lengths"].max()) and crowd["peaks"].shape == (4, 1)
    assert understudy(*asked, tmp_path / "crowd.glb")[0] == 0
    assert len(formats.read(tmp_path / "crowd.glb").animations) == 4
    code, _, err = understudy(*asked, tmp_path / "crowd.mp4")
    assert code == 1 and "a video shows one face" in err


def test_sheets(understudy: Command, graph_file: Path, folder: Path, tmp_path: Path) -> None:
    asked = ("express", "act", graph_file, "happy", "--character", folder / "puppet.glb", "--size", "48x48")
    code, out, _ = understudy(*asked, "--sheet", 3, "-o", "-", "--to", "png", "-q")
    assert code == 0 and Image.open(io.BytesIO(out)).size[0] > 3 * 48
    code, _, _ = understudy(*asked, "--crowd", 2, "-o", tmp_path / "crowd.png")
    assert code == 0 and Image.open(tmp_path / "crowd.png").size[0] > 5 * 48


def test_speech(understudy: Command, graph_file: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text("0.2 aa\n0.5 sil # quiet again\n")
    asked = ("express", "act", graph_file, "happy", "--character", folder / "puppet.glb", "--visemes")
    assert understudy(*asked, tmp_path / "said.txt", "-o", tmp_path / "x.glb")[0] == 0
    (tmp_path / "bad.txt").write_text("0.2 aa\nnow PP\n")
    code, _, err = understudy(*asked, tmp_path / "bad.txt", "-o", tmp_path / "y.glb")
    assert code == 1 and "line 2: seconds and a viseme were expected" in err and not (tmp_path / "y.glb").exists()
    (tmp_path / "bad.txt").write_text("0.2 zz\n")
    assert "no viseme 'zz'; available: sil, PP" in understudy(*asked, tmp_path / "bad.txt", "-o", tmp_path / "y.glb")[2]


def test_a_picture_with_a_way(understudy: Command, graph_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "graph.svg"
    code, out, _ = understudy("express", "picture", graph_file, "-o", target, "--way", "happy", "--json")
    assert code == 0 and "<svg" in target.read_text() and set(json.loads(out)["ways"]) == {"mouth", "brows"}
    code, _, err = understudy("express", "picture", graph_file, "-o", tmp_path / "graph.jpg")
    assert code == 1 and "an .svg or a .png" in err


def test_a_film_becomes_weights(
    understudy: Command, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command alone: what is found in pictures, and how it is solved for, is tested where that is done."""
    from understudy.express import face_capture

    seen = {}

    def watched(video: str, character: object, vertices: np.ndarray, **how: object) -> tuple[object, tuple[str, ...]]:
        seen.update(how, vertices=vertices)
        weights = np.linspace(0.0, 1.0, 12)[:, None] * [1.0, 0.5]
        turns, shifts = np.tile(np.eye(3), (12, 1, 1)), np.zeros((12, 3))
        return face_capture.FaceSolution(("jawOpen", "browInnerUp"), weights, turns, shifts, np.full(12, 0.7), 24.0), (
            "seen",
        )

    monkeypatch.setattr(face_capture, "capture", watched)
    (tmp_path / "marks.txt").write_text("".join(f"lm{n:02d} {n % 12}\n" for n in range(68)))
    asked = ("express", "capture", "me.mp4", "--character", folder / "puppet.glb", "--neutral", 0.5, "--json")
    code, out, _ = understudy(*asked, "--landmarks", tmp_path / "marks.txt", "-o", tmp_path / "me.csv")
    assert code == 0 and json.loads(out)["frames"] == 12 and json.loads(out)["pixels"] == 0.7
    assert seen["neutral"] == 0.5 and seen["vertices"].tolist() == [n % 12 for n in range(68)]
    clip = formats.read(tmp_path / "me.csv").clip()
    assert clip.values[-1, [c == "jawOpen" for c in clip.channels[0].columns].index(True)] == pytest.approx(1.0)
    code, _, err = understudy(*asked, "-o", tmp_path / "me.csv")
    assert code == 1 and "give them with --landmarks FILE" in err
    (tmp_path / "marks.txt").write_text("lm00 3\n")
    code, _, err = understudy(*asked, "--landmarks", tmp_path / "marks.txt", "-o", tmp_path / "me.csv")
    assert code == 1 and "lm01 is missing" in err


def test_info_tells_a_graph_and_perform_refuses_it(understudy: Command, graph_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("info", graph_file, "--json")
    assert code == 0 and json.loads(out)["format"] == "face graph" and json.loads(out)["takes"] == 6
    assert b"labels: happy, shocked" in understudy("info", graph_file)[1]
    code, _, err = understudy("perform", graph_file, tmp_path / "scene.toml", "-o", tmp_path / "x.glb")
    assert code == 1 and "holds a face graph, but a model" in err


def one_sentence(err: str) -> bool:
    return err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["act", "GRAPH", "zest", "-o", "x.npz"], "no label 'zest'; available: 'happy', 'shocked', 'neutral'"),
        (["act", "GRAPH", "happy:much", "-o", "x.npz"], "should be a number"),
        (["act", "GRAPH", "happy", "-o", "x.doc"], "not written as .doc"),
        (["act", "GRAPH", "happy", "-o", "nowhere/x.npz"], "there is no folder nowhere"),
        (["act", "takes.toml", "happy", "-o", "x.npz"], "is not a face graph"),
        (["act", "missing.understudy", "happy", "-o", "x.npz"], "there is no such file"),
        (["act", "GRAPH", "happy", "-o", "x.glb", "--character", "nobody"], "no built-in character of that name"),
        (["build", "missing.toml", "-o", "x.understudy"], "there is no such file"),
        (["build", "lamp", "-o", "x.understudy", "--as", "landmarks"], "landmarks are known of the built-in face only"),
        (["capture", "missing.mp4", "-o", "x.doc"], "not written as .doc"),
    ],
)
def test_mistakes_are_one_sentence(
    understudy: Command, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = understudy("express", *(str(graph_file) if word == "GRAPH" else word for word in words))
    assert code == 1 and said in err and one_sentence(err)
    assert not list(tmp_path.iterdir())


def test_a_map_is_proposed_and_used(understudy: Command, graph_file: Path, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "map.toml"
    code, out, _ = understudy("express", "map", folder / "puppet.glb", "-o", target, "--json")
    assert code == 0 and json.loads(out)["map"]["jawOpen"] == {"jawOpen": 1.0}
    target.write_text('jawOpen = "browInnerUp"\n')
    asked = ("express", "act", graph_file, "happy", "--character", folder / "puppet.glb", "--map", target)
    code, _, err = understudy(*asked, "-o", tmp_path / "act.glb")
    assert code == 0 and "has no shape for" in err
    target.write_text('jawOpen = "gape"\n')
    code, _, err = understudy(*asked, "-o", tmp_path / "act.glb")
    assert code == 1 and "has no shape 'gape'" in err


def test_a_text_is_said(understudy: Command, graph_file: Path, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("espeakng_loader", reason="espeakng-loader is not installed: pip install 'understudy[speech]'")
    asked = ("express", "act", graph_file, "happy", "--character", folder / "puppet.glb")
    code, _, err = understudy(*asked, "--say", "Bob, my boy!", "-o", tmp_path / "act.glb", "--json")
    assert code == 0 and (tmp_path / "act.wav").stat().st_size > 10_000
    code, _, err = understudy(*asked[:3], *asked[4:], "--say", "Hi", "-o", tmp_path / "hi.mp4", "--size", "32x32")
    assert code == 0, err
    with av.open(str(tmp_path / "hi.mp4")) as film:
        assert [stream.type for stream in film.streams] == ["video", "audio"]
    code, _, err = understudy(*asked, "--text", "Hi", "-o", tmp_path / "act.glb")
    assert code == 2 and "--text is what is said in --audio" in err
    code, _, err = understudy(*asked[:3], "-o", tmp_path / "act.glb")
    assert code == 2 and "at least one label" in err
