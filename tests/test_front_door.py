"""The front door: `import understudy` is free, its names are documented and their examples run, and old files open."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data_folder import PROJECT

import understudy as us
from understudy import storage
from understudy.errors import BadFile, InvalidInput, Unsupported

SAVED = Path(__file__).parent / "data" / "saved"  # written by version 0.1
MAX_IMPORT_SECONDS = 0.1
FUNCTIONS_AND_CLASSES = sorted(us.__all__)
LEARNERS = (us.PoseModel, us.FaceGraph, us.Retargeter, us.Skin)


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_the_package_loads_nothing() -> None:
    loaded = run_python("import sys, understudy; dir(understudy); print(*sorted(sys.modules))").split()
    assert "numpy" not in loaded
    assert [name for name in loaded if name.startswith("understudy.")] == []


def test_importing_the_package_is_quick() -> None:
    code = "import time; t = time.perf_counter(); import understudy; print(time.perf_counter() - t)"
    assert min(float(run_python(code)) for _ in range(3)) < MAX_IMPORT_SECONDS


def test_names_tables_and_imports_agree() -> None:
    assert sorted(us.__all__) == sorted(us._HOMES) and len(us.__all__) == len(set(us.__all__))
    imports = inspect.getsource(us).partition("if TYPE_CHECKING:")[2].partition("__version__")[0]
    assert set(re.findall(r"\b\w+\b", " ".join(re.findall(r"import (.*)", imports)))) == set(us.__all__)
    assert set(us.__all__) <= set(dir(us))
    for name in us.__all__:
        assert getattr(us, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'perform_all'"):
        _ = us.perform_all


def definitions(name: str) -> Iterator[tuple[str, Any, str]]:
    """(place, callable, docstring) of a name and, for a class, of its public methods."""
    thing = getattr(us, name)
    yield name, thing, inspect.getdoc(thing) or ""
    if not inspect.isclass(thing) or issubclass(thing, Exception):
        return
    for member, value in inspect.getmembers(thing):
        own = any(member in vars(base) for base in thing.__mro__ if base.__module__.startswith("understudy"))
        if own and not member.startswith("_") and (inspect.isfunction(value) or inspect.ismethod(value)):
            yield f"{name}.{member}", value, inspect.getdoc(value) or ""


def parameters(thing: Any) -> list[str]:
    if inspect.isclass(thing) and getattr(thing, "_is_protocol", False):
        return []
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    names = [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]
    if dataclasses.is_dataclass(thing):
        names += [field.name for field in dataclasses.fields(thing)]
    return list(dict.fromkeys(names))


@pytest.mark.parametrize("name", FUNCTIONS_AND_CLASSES)
def test_every_argument_is_documented(name: str) -> None:
    for place, thing, doc in definitions(name):
        assert doc and doc[0].isupper(), f"{place} should have a docstring"
        listed = doc.partition("Args:")[2].partition("\n\n")[0]
        for parameter in parameters(thing):
            entry = re.search(rf"^ +{parameter}: (\S.*)", listed, re.M)
            assert entry, f"{place} should say what {parameter} is"
        if inspect.isfunction(thing) and inspect.signature(thing).return_annotation not in ("None", None):
            assert not parameters(thing) or "Returns:" in doc, f"{place} should say what it returns"


@pytest.mark.parametrize("name", FUNCTIONS_AND_CLASSES)
def test_every_name_has_an_example(name: str) -> None:
    doc = inspect.getdoc(getattr(us, name)) or ""
    assert f"us.{name}" in doc or ">>>" in doc, f"{name} should have an example"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the learnt files that the examples open."""
    shutil.copy(SAVED / "model.understudy", tmp_path / "lamp.understudy")
    shutil.copy(SAVED / "graph.understudy", tmp_path / "face.understudy")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FUNCTIONS_AND_CLASSES)
def test_examples_run(name: str, folder: Path) -> None:
    finder = doctest.DocTestFinder(recurse=inspect.isclass(getattr(us, name)))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for found in finder.find(getattr(us, name), name, globs={"us": us}):
        runner.run(found)
    assert runner.summarize(verbose=False).failed == 0


def test_the_package_shows_its_first_lines() -> None:
    assert doctest.testmod(us).failed == 0


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_learners_keep_one_contract(learner: type) -> None:
    """Settings are keyword only and can be read back, nothing is learnt before `fit`, and there is save and load."""
    first = {us.Retargeter: [us.load("lamp")]}.get(learner, [])
    made = learner(*first)
    given = inspect.signature(learner).parameters
    assert [p.name for p in given.values() if p.kind == p.POSITIONAL_OR_KEYWORD] in ([], ["target"], ["method"])
    assert set(given) - {"target", "settings"} <= set(made.settings())
    assert learner(*first, **made.settings()).settings() == made.settings()
    assert not [name for name in vars(made) if name.endswith("_")]
    with pytest.raises(us.NotFitted, match="call fit first"):
        made.save("nowhere.understudy")
    assert callable(learner.load) and callable(learner.fit)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("model.understudy", "PoseModel"),
        ("graph.understudy", "FaceGraph"),
        ("skin_pose-space.npz", "Skin"),
        ("skin_eigenskin.npz", "Skin"),
    ],
)
def test_files_of_version_0_1_open_and_can_be_saved_again(file: str, kind: str, tmp_path: Path) -> None:
    learnt = us.load(SAVED / file)
    assert type(learnt).__name__ == kind
    us.save(learnt, tmp_path / "again.understudy")
    again = us.load(tmp_path / "again.understudy")
    assert type(again) is type(learnt) and again.settings() == learnt.settings()
    if kind == "Skin":
        pose = np.tile(np.eye(4), (1, joint_count(learnt), 1, 1))
        assert np.array_equal(again.transform(pose), learnt.transform(pose))


def joint_count(skin: us.Skin) -> int:
    for joints in range(1, 64):
        try:
            skin.transform(np.tile(np.eye(4), (1, joints, 1, 1)))
        except InvalidInput:
            continue
        return joints
    raise AssertionError("no number of joints fits")


@pytest.fixture(scope="module")
def retargeter() -> us.Retargeter:
    lamp = us.load("lamp")
    pairs = us.PosePairs.read("lamp", us.load("actor"), lamp).subset(range(0, 48, 6))
    return us.Retargeter(lamp, iterations=5, physics=False).fit(pairs)


def test_a_retargeter_comes_back_from_its_file(retargeter: us.Retargeter, tmp_path: Path) -> None:
    us.save(retargeter, tmp_path / "lamp.understudy")
    again = us.load(tmp_path / "lamp.understudy")
    before, after = (each.transform(us.load("actor"), "surprise", rate=6) for each in (retargeter, again))
    assert np.array_equal(before.clip.values, after.clip.values)
    assert np.array_equal(before.uncertainty, after.uncertainty)
    assert again.settings() == retargeter.settings()


def test_a_retargeter_of_another_character_brings_it_along(retargeter: us.Retargeter, tmp_path: Path) -> None:
    own = us.load("lamp").character()
    renamed = us.Character("a lamp of my own", own.skeleton, own.parts, own.bones)
    made = us.Retargeter(renamed, iterations=5, physics=False, collisions=False).fit(retargeter.target_.pairs)
    made.save(tmp_path / "own.understudy")
    again = us.Retargeter.load(tmp_path / "own.understudy")
    assert again.target.vertex_count == own.vertex_count and again.target.skeleton.names == own.skeleton.names
    before, after = (each.transform("actor", "surprise", rate=6) for each in (made, again))
    assert np.allclose(before.clip.values, after.clip.values, atol=1e-5)  # a GLB holds its masses' mesh as float32


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h, a: h.update(kind="skin"), "should hold a retargeter, but holds a skin"),
        (lambda h, a: a.pop("target.poses.rotations"), "should have the array 'poses.rotations'"),
        (lambda h, a: a.update({"pairs.times": a["pairs.times"][:-1]}), "should have shape|one size for N"),
        (
            lambda h, a: a.update({"actor.markers.joints": a["actor.markers.joints"] + 1000}),
            "damaged retargeter.*joints of markers",
        ),
        (lambda h, a: h["target"].update(rate=-1.0), "damaged retargeter.*positive|rate"),
        (lambda h, a: h["settings"].update(springs=["nothing"]), "damaged retargeter"),
        (lambda h, a: h["target"].update(joints=h["target"]["joints"][1:]), "damaged retargeter"),
    ],
)
def test_a_damaged_retargeter_is_refused(retargeter: us.Retargeter, tmp_path: Path, change: Any, words: str) -> None:
    path = tmp_path / "lamp.understudy"
    us.save(retargeter, path)
    header, arrays = storage.read(path)
    arrays = dict(arrays)
    change(header, arrays)
    storage.write(path, header, arrays)
    with pytest.raises(BadFile, match=words):
        us.Retargeter.load(path)


def test_what_cannot_be_opened_or_written_says_why(folder: Path) -> None:
    lamp = us.load("lamp")
    with pytest.raises(BadFile, match="no such file, and no built-in character"):
        us.load("lampe")
    with pytest.raises(InvalidInput, match="'scale' does not apply"):
        us.load("lamp.understudy", scale=2.0)
    storage.write("odd.understudy", {"kind": "wish"}, {})
    with pytest.raises(BadFile, match="holds a 'wish'"):
        us.load("odd.understudy")
    with pytest.raises(InvalidInput, match="needs the character"):
        us.save(lamp.animation("hop"), "hop.glb")
    with pytest.raises(Unsupported, match=r"written as \.npz"):
        us.save(us.bake(lamp, "hop", rate=2), "hop.glb")
    with pytest.raises(InvalidInput, match="Asset, Character, Clip"):
        us.save(3, "three.glb")  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="is not a picture"):
        us.show(lamp, "lamp.pdf")
    with pytest.raises(InvalidInput, match="setting of the view"):
        us.show(lamp, "lamp.png", sice=(10, 10))


def test_show_writes_pictures_and_films(folder: Path) -> None:
    lamp = us.load("lamp")
    small = {"size": (48, 36), "backend": "software"}
    assert us.show(lamp, "still.png", "hop", time=1.0, **small).stat().st_size > 0
    assert us.show(lamp.character(), "rest.png", **small).stat().st_size > 0
    assert us.show(lamp.animation("hop"), "hop.gif", character=lamp.character(), rate=2, **small).stat().st_size > 0
    assert "<!doctype html>" in us.show(lamp, "hop.html", "hop", rate=2).read_text(encoding="utf-8")


def test_show_in_a_notebook_and_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    from understudy import io

    calls: list[Any] = []
    monkeypatch.setattr(io.subprocess, "run", lambda command, check: calls.append(command))
    lamp = us.load("lamp")
    monkeypatch.setattr(io, "in_notebook", lambda: True)
    assert "<iframe" in us.show(lamp, clip="hop")._repr_html_()
    monkeypatch.setattr(io, "in_notebook", lambda: False)
    assert us.show(lamp) is None and calls[0][3:5] == ["studio", "lamp"]
    us.show(lamp, clip="hop")
    assert calls[1][4].endswith("lamp.glb")


def test_points_are_found_by_name() -> None:
    lamp = us.load("lamp")
    rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")
    by_name = us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 0.03, 0)), us.Pin("Base"))
    by_point = us.edit_curves(
        rig, curves, us.Pin(us.Point("Base")), us.MovePoint(us.Point("Head"), 3.7, by=(0, 0.03, 0))
    )
    assert by_name.reached and by_name.distance == by_point.distance
    with pytest.raises(InvalidInput, match="did you mean 'Head'"):
        us.edit_curves(rig, curves, us.MovePoint("Haed", 3.7, by=(0, 0.03, 0)))
    with pytest.raises(InvalidInput, match="a goal should be one of"):
        us.edit_curves(rig, curves, "Head")  # type: ignore[arg-type]


@pytest.mark.long
def test_a_blocked_edit_has_suggestions() -> None:
    lamp = us.load("lamp")
    rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")
    blocked = us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 0.3, 0)), us.Pin("UpperArm"), suggest=True)
    assert not blocked.reached and blocked.obstacles and blocked.suggestions


def test_commands_that_never_end_are_refused(folder: Path) -> None:
    model = us.load("lamp.understudy")
    with pytest.raises(InvalidInput, match="give it `seconds`"):
        us.run_script(model, [us.Idle()])
    with pytest.raises(InvalidInput, match="at least one command"):
        us.run_script(model, [])
    with pytest.raises(BadFile, match="no label 'merry'"):
        us.run_script(model, [us.Transition("merry")])


def test_pairs_from_poses_are_those_of_the_file() -> None:
    actor, lamp = us.load("actor"), us.load("lamp")
    rig = us.rig_of(lamp.character())
    rows = rig.pose(lamp.animation("hop"), [0.0, 0.5, 1.0])
    times = (0.2, 0.7, 1.2)
    pairs = us.PosePairs.from_poses([("surprise", t, row) for t, row in zip(times, rows)], actor, lamp)
    assert len(pairs) == 3 and pairs.motions == ("surprise",) * 3
    assert np.abs(pairs.times - times).max() < 0.05
    with pytest.raises(InvalidInput, match="no motion 'joy'"):
        us.PosePairs.from_poses([("joy", 0.0, rows[0])] * 2, actor, lamp)


def documented_code() -> Iterator[tuple[str, ast.AST]]:
    """(place, tree) of each Python block of the guides that uses the front door."""
    for path in (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        for block in re.finditer(r"```python\n(.*?)```", text, re.S):
            if "us." in block[1]:
                yield f"{path.name}:{text[: block.start()].count(chr(10)) + 1}", ast.parse(block[1])


def test_the_guides_call_what_is_there() -> None:
    """Names of the front door exist in the guides' code, and so do the keywords that they are called with."""
    blocks = list(documented_code())
    assert len(blocks) > 20
    for place, tree in blocks:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "us":
                assert node.attr in us.__all__, f"{place}: us.{node.attr}"
            direct = re.fullmatch(r"us\.(\w+)(?:\.(\w+))?", ast.unparse(getattr(node, "func", node)))
            if not isinstance(node, ast.Call) or direct is None:
                continue
            called = getattr(us, direct[1]) if direct[2] is None else getattr(getattr(us, direct[1]), direct[2])
            known = inspect.signature(called).parameters
            free = any(parameter.kind == parameter.VAR_KEYWORD for parameter in known.values())
            wrong = [keyword.arg for keyword in node.keywords if keyword.arg not in known and not free]
            assert not wrong, f"{place}: {ast.unparse(node.func)} has no {wrong}"


def test_every_example_uses_the_front_door() -> None:
    for path in sorted((PROJECT / "examples").glob("*.py")):
        imports = re.findall(r"^(?:import|from) .*", path.read_text(encoding="utf-8"), re.M)
        assert "import understudy as us" in imports and len(imports) <= 3, path.name
