"""`skin`: compare, fit and auto, from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.deform.rigging.shapes import box, joined
from tests.deform.tubes import tube
from tests.judges.gltf_validator import validate

from understudy import cast, formats
from understudy.character.rig import rig_of
from understudy.deform import deformer, example_files


@pytest.fixture(scope="module")
def tube_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tube") / "tube.npz"
    example_files.write(tube(np.linspace(0, 1.8, 8), np.linspace(0, 1.0, 8)), path)
    return path


@pytest.fixture
def stool_file(tmp_path: Path) -> Path:
    """Something with four legs, a head and a tail, as OBJ."""
    legs = [box([x, 0, z], [x + 0.1, 0.55, z + 0.1]) for x in (-0.2, 0.1) for z in (-0.5, 0.4)]
    body = [box([-0.2, 0.5, -0.5], [0.2, 0.75, 0.5]), box([-0.1, 0.6, 0.45], [0.1, 0.95, 0.9])]
    vertices, triangles = joined(*legs, *body, box([-0.03, 0.6, -0.9], [0.03, 0.68, -0.45]))
    lines = ["v {} {} {}".format(*v) for v in vertices] + ["f {} {} {}".format(*(t + 1)) for t in triangles]
    path = tmp_path / "stool.obj"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_compare_writes_a_report_and_prints_the_table(understudy, tube_file: Path, tmp_path: Path) -> None:
    words = ["--method", "linear", "--method", "pose-space"]
    code, out, err = understudy("skin", "compare", tube_file, "-o", tmp_path / "r", *words)
    lines = out.decode().splitlines()
    assert code == 0 and len(lines) == 4 and lines[1].startswith("doing nothing") and "index.html" in err
    page = (tmp_path / "r/index.html").read_text()
    assert page.count("data:image/png;base64,") == 4, "the truth, doing nothing and two methods"


def test_compare_as_json(understudy, tube_file: Path, tmp_path: Path) -> None:
    words = ["--method", "linear", "--json", "--no-pictures", "--hold-out", "0.5", "--frames", "6"]
    code, out, err = understudy("skin", "compare", tube_file, "-o", tmp_path / "r", *words)
    told = json.loads(out)
    assert code == 0 and err == "" and told["methods"][0]["rms_mm"] > 0 and "6 of 8 poses" in told["notes"][0]
    assert len(json.loads((tmp_path / "r/report.json").read_text())["held_out_poses"]) == 3


def test_fit_saves_a_deformer(understudy, tube_file: Path, tmp_path: Path) -> None:
    words = ["--method", "linear", "--set", "influences=2", "--set", "weights=fit"]
    code, out, _ = understudy("skin", "fit", tube_file, "-o", tmp_path / "x.npz", *words)
    assert code == 0 and out.startswith(b"linear: rms")
    assert deformer.load(tmp_path / "x.npz").weights.shape[1] == 2


def test_fit_for_gltf_prints_the_error(understudy, tube_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("skin", "fit", tube_file, "-o", tmp_path / "x.glb", "--method", "eigenskin")
    assert code == 0 and b"corrective shapes keyed on 8 frames: rms" in out
    assert validate([tmp_path / "x.glb"])[0].errors == 0


def test_fit_is_part_of_a_character(understudy, tmp_path: Path) -> None:
    """The whole way: fitted, shown by `info`, baked, and written for others with every clip."""
    words = ["--method", "animation-space", "--frames", "6", "--json"]
    code, out, _ = understudy("skin", "fit", "lamp", "-o", tmp_path / "x.understudy", *words)
    assert code == 0 and json.loads(out)["poses"] == 6
    lamp, skinned = cast.load("lamp"), formats.read(tmp_path / "x.understudy")
    assert {a.name for a in skinned.animations} == {a.name for a in lamp.animations}
    code, out, _ = understudy("info", tmp_path / "x.understudy")
    assert code == 0 and b"moved by the deformer animation-space" in out
    code, _, _ = understudy("bake", tmp_path / "x.understudy", "-o", tmp_path / "x.npz", "--clip", "hop", "--rate", "2")
    rig = rig_of(skinned.character())
    played = np.load(tmp_path / "x.npz")["vertices"]
    np.testing.assert_allclose(played, rig.vertices(rig.pose(skinned.animation("hop"), np.arange(13) / 2)), atol=1e-6)
    code, _, err = understudy("convert", tmp_path / "x.understudy", "-o", tmp_path / "x.glb", "--clip", "hop")
    assert code == 0 and "corrective shapes keyed on" in err


@pytest.mark.parametrize(("ending", "flat"), [(".glb", False), (".fbx", True)])
def test_decompose_gives_bones_weights_and_motion(understudy, tmp_path: Path, ending: str, flat: bool) -> None:
    """What was written plays the sequence within the error that was printed, with as many bones as asked for."""
    examples = tube(np.linspace(0, 1.8, 16), np.linspace(0, 1.0, 16))
    np.savez(tmp_path / "s.npz", rest=examples.rest, triangles=examples.triangles, frames=examples.vertices)
    words = ["--bones", "4", "--json", *(["--flat"] if flat else [])]
    code, out, _ = understudy("skin", "decompose", tmp_path / "s.npz", "-o", tmp_path / f"x{ending}", *words)
    told = json.loads(out)
    assert code == 0 and told["bones"] == 4 and told["rms_percent"] < 1
    asset = formats.read(tmp_path / f"x{ending}")
    rig = rig_of(asset.character())
    error = np.linalg.norm(rig.vertices(rig.pose(asset.clip("sequence"))) - examples.vertices, axis=-1)
    assert np.sqrt((error**2).mean()) * 1000 == pytest.approx(told["rms_mm"], rel=0.02)
    joints = asset.character().joints
    roots = sum(asset.character().skeleton.parents[joint] not in joints for joint in joints)
    assert roots == (4 if flat else 1)


def test_members_of_the_cast_are_examples(understudy, tmp_path: Path) -> None:
    words = ["--method", "linear", "--set", "weights=artist", "--frames", "3", "--json"]
    code, out, _ = understudy("skin", "fit", "lamp", "-o", tmp_path / "lamp.npz", *words)
    told = json.loads(out)
    assert code == 0 and told["poses"] == 3 and told["rms_mm"] < 0.01


def test_auto_rigs_a_bare_mesh(understudy, stool_file: Path, tmp_path: Path) -> None:
    words = ["--template", "quadruped", "--facing", "+z", "--json"]
    code, out, err = understudy("skin", "auto", stool_file, "-o", tmp_path / "x.glb", *words)
    told = json.loads(out)
    assert code == 0 and err == "" and told["rig"]["template"] == "quadruped" and 0 < told["rig"]["confidence"] <= 1
    assert set(told["vertices"]) == {"heat", "borrowed", "distance"}
    found = formats.read(tmp_path / "x.glb").character()
    assert "LeftFoot" in found.skeleton.names and validate([tmp_path / "x.glb"])[0].errors == 0


def test_auto_keeps_a_skeleton_and_its_animations(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("skin", "auto", flag_file, "-o", tmp_path / "x.glb")
    assert code == 0 and b"vertices weighted" in out
    before, after = formats.read(flag_file), formats.read(tmp_path / "x.glb")
    assert {a.name for a in after.animations} == {a.name for a in before.animations}


def test_an_interrupted_comparison_leaves_nothing(understudy, tube_file: Path, tmp_path: Path, monkeypatch) -> None:
    from understudy.deform import report

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "_csv", interrupt)
    words = ["--method", "linear", "--no-pictures"]
    code, _, err = understudy("skin", "compare", tube_file, "-o", tmp_path / "r", *words)
    assert code == 130 and err.endswith("interrupted\n") and list(tmp_path.iterdir()) == []


def test_methods_are_listed(understudy) -> None:
    code, out, _ = understudy("skin", "methods")
    assert code == 0 and b"linear" in out and b"Kavan" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("compare", "none.npz", "-o", "{}/r"), "none.npz: there is no such file"),
        (("compare", "{tube}", "-o", "{}/r", "--method", "magic"), "there is no deformer 'magic'"),
        (("compare", "{tube}", "-o", "{tube}"), "is a file"),
        (("fit", "{tube}", "-o", "{}/x.bvh", "--method", "linear"), "not written as .bvh"),
        (("fit", "dragon", "-o", "{}/x.understudy", "--frames", "2", "--method", "linear"), "layers of controls"),
        (("fit", "lamp", "{tube}", "-o", "{}/x.understudy", "--method", "linear"), "joints that 'lamp' does not have"),
        (
            ("fit", "{tube}", "-o", "{}/x.npz", "--method", "linear", "--set", "colour=3"),
            "there is no setting 'colour'",
        ),
        (("auto", "{tube}", "-o", "{}/x.glb"), "tube.npz"),
        (("auto", "dragon", "-o", "{}/x.glb"), "layers of controls"),
        (("auto", "lamp", "-o", "{}/x.glb", "--template", "horse"), "there is no template 'horse'"),
    ],
)
def test_bad_input_is_one_sentence(understudy, tube_file: Path, tmp_path: Path, words: tuple, sentence: str) -> None:
    given = [word.replace("{tube}", str(tube_file)).replace("{}", str(tmp_path)) for word in words]
    code, _, err = understudy("skin", *given)
    assert code == 1 and sentence in err and len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == [], "nothing half-written"


def test_misspelt_settings_are_a_usage_error(understudy, tube_file: Path, tmp_path: Path) -> None:
    words = ["--method", "linear", "--set", "influences"]
    code, _, err = understudy("skin", "fit", tube_file, "-o", tmp_path / "x.npz", *words)
    assert code == 2 and "KEY=VALUE" in err
