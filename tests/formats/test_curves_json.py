"""Curves as text: every bit comes back, and whatever is wrong with a file is one sentence with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data_folder import PROJECT
from tests.edit.random_curves import random_curves
from tests.fuzz.seeds import keyed_asset, motion_asset

from understudy import cast
from understudy.character import Asset, Channel, Clip, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.cli.app import understudy
from understudy.errors import BadFile, Unsupported
from understudy.formats import read, write

ENDING = ".curves.json"
FLOATS = st.floats(-1e30, 1e30, allow_nan=False, allow_subnormal=True)
WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


def assert_bitwise(one: Curves, other: Curves) -> None:
    assert (one.name, one.labels, one.rate, one.about) == (other.name, other.labels, other.rate, other.about)
    assert dict(one.moments) == dict(other.moments)
    assert len(one) == len(other)
    for a, b in zip(one.curves, other.curves):
        assert a.channel == b.channel and a.extrapolation == b.extrapolation
        for name in ("times", "values", "segments", "before", "after"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
            assert getattr(a, name).tobytes() == getattr(b, name).tobytes() or name in ("before", "after")


@st.composite
def any_curves(draw: st.DrawFn) -> Curves:
    curves = []
    for target in draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(["translation", "rotation", "euler", "scale", "weights", "controls", "marker"]))
        if kind == "euler":
            columns = tuple(draw(st.permutations("xyz")))
        else:
            named = draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
            columns = tuple(named) if kind in ("weights", "controls") else ()
        channel = Channel(target, kind, columns)
        keys, n = draw(st.integers(1, 4)), len(channel)
        times = np.cumsum(draw(st.lists(st.floats(1e-6, 1e6), min_size=keys, max_size=keys)))
        values = draw(st.lists(st.lists(FLOATS, min_size=n, max_size=n), min_size=keys, max_size=keys))
        segments = draw(st.lists(st.sampled_from([STEP, LINEAR, BEZIER]), min_size=keys - 1, max_size=keys - 1))
        share = draw(st.floats(0, 1))
        before, after = np.zeros((2, keys, n, 2))
        before[1:, :, 0] = after[:-1, :, 0] = share * np.diff(times)[:, None]
        before[..., 1], after[..., 1] = draw(FLOATS), draw(FLOATS)
        beyond = st.sampled_from(["hold", "linear", "cycle", "cycle_offset"])
        curves.append(Curve(channel, times, values, segments, before, after, (draw(beyond), draw(beyond))))
    moments = draw(st.dictionaries(WORDS, st.floats(-1e30, 1e30), max_size=2))
    labels = draw(st.lists(WORDS, max_size=2))
    return Curves(draw(WORDS), curves, labels, draw(st.floats(1e-3, 1e6)), draw(st.text(max_size=5)), moments)


@given(any_curves())
@settings(max_examples=150, deadline=None)
def test_every_bit_comes_back(tmp_path_factory: pytest.TempPathFactory, curves: Curves) -> None:
    path = tmp_path_factory.mktemp("json") / f"any{ENDING}"
    about = curves.about.encode("utf-8", "replace").decode()  # halves of surrogate pairs are no text
    curves = Curves(curves.name, curves.curves, curves.labels, curves.rate, about, curves.moments)
    assert write(Asset(curves=[curves]), path) == ()
    (back,) = read(path).curves
    assert_bitwise(back, curves)


@pytest.mark.parametrize("seed", range(5))
def test_curves_of_every_kind_of_segment(tmp_path: Path, seed: int) -> None:
    curves = random_curves(seed, None, ("cycle", "linear"))
    path = tmp_path / f"walk{ENDING}"
    write(Asset(curves=[curves, *cast.load("lamp").curves]), path)
    back = read(path)
    assert_bitwise(back.curves[0], curves)
    for one, other in zip(back.curves[1:], cast.load("lamp").curves, strict=True):
        assert_bitwise(one, other)


def test_clips_become_linear_keys_and_characters_are_said(tmp_path: Path) -> None:
    asset = motion_asset()
    path = tmp_path / f"walk{ENDING}"
    notes = write(asset, path)
    assert notes == ("the format holds curves only: characters were left out",)
    (back,) = read(path).curves
    np.testing.assert_array_equal(back.sample(asset.clips[0].times), asset.clips[0].values)
    assert all((curve.segments == LINEAR).all() for curve in back.curves)


def test_markers_with_gaps_are_said(tmp_path: Path) -> None:
    values = np.zeros((3, 6))
    values[1, 0] = np.nan
    clip = Clip("take", [Channel("LFHD", "marker"), Channel("RFHD", "marker")], values, 100)
    path = tmp_path / f"take{ENDING}"
    assert write(Asset(clips=[clip]), path) == ("take: markers that were not seen all the time were left out (1)",)
    assert [c.target for c in read(path).curves[0].channels] == ["RFHD"]


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="no animation here"):
        write(Asset(), tmp_path / f"x{ENDING}")


def document() -> dict[str, Any]:
    curve = {"target": "hip", "kind": "translation", "times": [0, 1], "values": [[0, 0, 0], [1, 2, 3]]}
    return {"format": "understudy curves", "version": 1, "animations": [{"name": "walk", "curves": [curve]}]}


def test_the_least_that_is_needed(tmp_path: Path) -> None:
    path = tmp_path / f"least{ENDING}"
    path.write_text(json.dumps(document()))
    (curves,) = read(path).curves
    np.testing.assert_array_equal(curves.sample([0.5]), [[0.5, 1, 1.5]])


HIP = "animations[0].curves[0]"
WRONG: list[tuple[str, Any, str]] = [
    ("format", "something", r"format 'understudy curves'\), but format is 'something'"),
    ("version", 2, "is version 2 of the format, but only version 1 is read"),
    ("version", "1", "version: should be a whole number"),
    ("animations", {}, "animations: should be a list"),
    ("animations.0.name", 3, r"animations\[0\]\.name: should be a string"),
    ("animations.0.rate", -1, "should be a finite number above zero, but is -1"),
    ("animations.0.moments", {"a": "b"}, r"moments\.a: should be a number"),
    ("animations.0.curves", [], "should have at least one curve"),
    ("kind", "magic", "there is no channel kind 'magic'"),
    ("kind", None, r"curves\[0\]\.kind: is missing"),
    ("columns", ["x"], "should have columns"),
    ("times", [0, 0], "should increase"),
    ("times", None, r"curves\[0\]\.times: is missing"),
    ("times", [0, [1]], "times: should be a list of numbers"),
    ("values", [[0, 0, 0]], r"should have shape \(2, 3\), but has shape \(1, 3\)"),
    ("values", [[0, 0, 0], [1, 2]], "values: should be lists of numbers, all of one length"),
    ("values", [[0, 0, 0], [1, 2, "x"]], "values: should be lists of numbers"),
    ("values", [[0, 0, 0], [1, 2, 1e31]], "none above 1e30"),
    ("segments", "curly", "should be step, linear or bezier, but one is 'curly'"),
    ("segments", ["step", "step"], "segments: should have one segment fewer than keys"),
    ("before", [[1, 2]], "before: should be lists of lists of pairs"),
    ("after", [[[9, 0]] * 3] * 2, "should not reach beyond the neighbouring key"),
    ("extrapolation", ["hold"], "should be two words"),
    ("extrapolation", ["hold", "bounce"], "there is no extrapolation 'bounce'"),
]


@pytest.mark.parametrize(("where", "value", "sentence"), WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, where: str, value: Any, sentence: str) -> None:
    root = document()
    holder: Any = root
    *steps, last = where.split(".") if where.split(".")[0] in root else ["animations", "0", "curves", "0", where]
    for step in steps:
        holder = holder[int(step)] if step.isdigit() else holder[step]
    if value is None:
        holder.pop(last)
    else:
        holder[last] = value
    path = tmp_path / f"wrong{ENDING}"
    path.write_text(json.dumps(root))
    with pytest.raises((BadFile, Unsupported), match=sentence) as caught:
        read(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not valid JSON"),
        ("[1, 2]", "should be an object, but is a list"),
        ("{", "line 1 column 2: is not valid JSON"),
        ('{"format": NaN}', "NaN is not a number in JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_not_json(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / f"wrong{ENDING}"
    path.write_text(text)
    with pytest.raises(BadFile, match=sentence):
        read(path)


def test_unknown_fields_are_noted(tmp_path: Path) -> None:
    root = document()
    root["animations"][0]["curves"][0]["colour"] = "red"
    path = tmp_path / f"more{ENDING}"
    path.write_text(json.dumps(root))
    assert read(path).notes == ("fields that understudy does not know were left out: 'colour'",)


def test_the_command_line_converts_and_shows(tmp_path: Path) -> None:
    run = CliRunner().invoke
    target = tmp_path / f"lamp{ENDING}"
    done = run(understudy, ["convert", "lamp", "-o", str(target), "--clip", "hop"])
    assert done.exit_code == 0, done.output
    assert "lamp" in done.output
    shown = run(understudy, ["info", str(target)])
    assert shown.exit_code == 0 and "hop" in shown.output, shown.output
    again = tmp_path / "out"
    done = run(understudy, ["convert", str(target), "-o", str(again), "--to", "curves.json"])
    assert done.exit_code == 0, done.output
    assert [path.name for path in again.iterdir()] == [f"lamp{ENDING}"]
    assert (again / f"lamp{ENDING}").read_bytes() == target.read_bytes()
    rehearsed = run(understudy, ["convert", str(target), "-o", str(tmp_path / f"x{ENDING}"), "--dry-run"])
    assert rehearsed.exit_code == 0 and not (tmp_path / f"x{ENDING}").exists(), rehearsed.output


def test_layers_keep_their_controls(tmp_path: Path) -> None:
    """The dragon's clips are curves of controls; nothing of them is baked for this format."""
    clip = cast.load("dragon").curves[0]
    target = tmp_path / f"dragon{ENDING}"
    done = CliRunner().invoke(understudy, ["convert", "dragon", "-o", str(target), "--clip", clip.name, "--quiet"])
    assert done.exit_code == 0, done.output
    assert_bitwise(read(target).curves[0], clip)


def test_the_seed_of_the_fuzz_is_sound(tmp_path: Path) -> None:
    path = tmp_path / f"seed{ENDING}"
    write(keyed_asset(), path)
    assert_bitwise(read(path).curves[0], keyed_asset().curves[0])


def test_the_example_in_the_docs_is_read(tmp_path: Path) -> None:
    text = (PROJECT / "docs/formats.md").read_text()
    example = text.split("```json\n")[1].split("```")[0]
    path = tmp_path / f"example{ENDING}"
    path.write_text(example)
    (walk,) = read(path).curves
    assert (walk.name, walk.labels, walk.rate, dict(walk.moments)) == ("walk", ("calm",), 30.0, {"down": 0.5})
    assert walk.curves[0].segments.tolist() == [BEZIER] and walk.curves[0].extrapolation == ("hold", "cycle")
