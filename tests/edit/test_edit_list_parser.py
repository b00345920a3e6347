"""EDITS.toml: every key is read, and every mistake is one sentence with its place."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.data_folder import PROJECT

from understudy.edit import edit_list_parser
from understudy.edit.edit_list_parser import STEP_KEYS, parse_edit_list
from understudy.edit.edit_list_steps import (
    EditStep,
    KeyStep,
    PoseStep,
    Preparation,
    ReduceStep,
    SketchStep,
    TangentStep,
    TimingStep,
)
from understudy.edit.goals import Contact, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.solver.objective_terms import Arc, Flight
from understudy.errors import BadFile

EVERYTHING = """
clip = "Walk"
character = "Knight"
name = "Walk edited"
keys = [0, 0.5, 1.0]
tangents = "clamped"
euler = {LeftArm = "zxy"}

[[edit]]
name = "higher"
point = "LeftHand"
time = 0.4
by = [0, 0.1, 0]
pins = [
    "Hips",
    {point = "LeftFoot", orientation = false, start = 0.1},
    {joint = "Head", offset = [0, 0.1, 0], stop = 0.9},
]
contacts = [{point = {vertex = 12}, start = 0.2, stop = 0.6, orientation = true}]
holds = [{point = "Head", time = 0.7}]
limits = [
    {target = "LeftArm", column = "x", low_degrees = 0, high_degrees = 90},
    {target = "face", column = "smile", high = 1},
]
stiffness = {Spine = 4, "LeftArm.euler.x" = 0}
start = 0
stop = 1
edges = "broken"
arcs = [{point = "LeftHand", start = 0.1, stop = 0.9, weight = 2}]
flights = [{start = 0.2, stop = 0.4}, {point = "Hips", start = 0.2, stop = 0.4, gravity = [0, -1.6, 0]}]

[[edit]]
moves = [
    {point = "LeftHand", time = 0.3, to = [1, 2, 3], turn_to = [0, 0, 0, 2]},
    {point = {joint = "RightHand", offset = [0.1, 0, 0]}, time = 0.3, turn_by_degrees = [0, 180, 0]},
]

[[edit]]
kind = "pose"
time = 0.5
point = "LeftHand"
to = [0, 1, 0]
pins = "Hips"
set = {"LeftArm.euler.x" = 0.3}

[[edit]]
kind = "timing"
time = 0.25
factor = 1.5
targets = "LeftArm"

[[edit]]
kind = "timing"
time = 0.25
factor = 0.5
point = "LeftHand"
pins = ["Hips"]

[[edit]]
kind = "key"
time = 0.25

[[edit]]
kind = "key"
time = 0.25
to_time = 0.3
targets = ["LeftArm", "Hips"]

[[edit]]
kind = "tangents"
method = "flat"
start = 0.2

[[edit]]
kind = "sketch"
point = "LeftHand"
stroke = [[0.1, 0, 1, 0], [0.2, 0, 1.1, 0.1], [0.3, 0, 1, 0.2]]
pins = ["Hips"]

[[edit]]
kind = "sketch"
point = "LeftHand"
stroke = [[0, 1, 0], [0, 1.1, 0.1]]
start = 0.1
stop = 0.4
"""


def test_everything_that_can_be_said() -> None:
    found = parse_edit_list(EVERYTHING)
    assert (found.clip, found.character, found.name) == ("Walk", "Knight", "Walk edited")
    assert found.preparation == Preparation((0, 0.5, 1), "clamped", None, {"LeftArm": "ZXY"})
    assert [step.place for step in found.steps] == [f"edit {i}" for i in range(1, 11)]
    first = found.steps[0]
    assert first.name == "higher" and isinstance(first.action, EditStep)
    edit = first.action.edit
    assert edit.moves == (MovePoint(Point("LeftHand"), 0.4, by=(0, 0.1, 0)),)
    assert edit.pins == (
        Pin(Point("Hips")),
        Pin(Point("LeftFoot"), start=0.1, orientation=False),
        Pin(Point("Head", (0, 0.1, 0)), stop=0.9),
    )
    assert edit.contacts == (Contact(Point(vertex=12), 0.2, 0.6, orientation=True),)
    assert edit.holds == (Hold(Point("Head"), 0.7),)
    assert edit.limits == (Limit("LeftArm", "x", 0, math.pi / 2), Limit("face", "smile", high=1))
    assert edit.stiffness == {"Spine": 4, "LeftArm.euler.x": 0}
    assert (edit.start, edit.stop, edit.edges) == (0, 1, "broken")
    assert edit.terms == (
        Arc(Point("LeftHand"), 0.1, 0.9, 2),
        Flight(None, 0.2, 0.4),
        Flight(Point("Hips"), 0.2, 0.4, gravity=(0, -1.6, 0)),
    )


def test_kinds_become_their_data() -> None:
    actions = [step.action for step in parse_edit_list(EVERYTHING).steps]
    both, pose, timing, slow, key, moved, tangents, drawn, timeless = actions[1:]
    assert isinstance(both, EditStep) and both.edit.moves[0].turn_to == (0, 0, 0, 1)
    assert both.turns == {1: pytest.approx((0, math.pi, 0))}
    assert isinstance(pose, PoseStep) and pose.pins == (Pin(Point("Hips")),)
    assert pose.moves == (MovePoint(Point("LeftHand"), 0.5, to=(0, 1, 0)),) and pose.values == {"LeftArm.euler.x": 0.3}
    assert timing == TimingStep(0.25, 1.5, ("LeftArm",))
    assert slow == TimingStep(0.25, 0.5, point=Point("LeftHand"), pins=(Pin(Point("Hips")),))
    assert key == KeyStep(0.25) and moved == KeyStep(0.25, ("LeftArm", "Hips"), to_time=0.3)
    assert tangents == TangentStep("flat", start=0.2)
    assert isinstance(drawn, SketchStep) and drawn.times == (0.1, 0.2, 0.3) and drawn.path[1] == (0, 1.1, 0.1)
    assert isinstance(timeless, SketchStep) and timeless.times == () and (timeless.start, timeless.stop) == (0.1, 0.4)


def test_a_reduction_is_in_metres_and_radians() -> None:
    found = parse_edit_list('reduce = {tolerance_mm = 2, angle_degrees = 0.5, keys = "shared"}').preparation
    assert found.reduce == ReduceStep(0.002, math.radians(0.5), "shared")
    assert parse_edit_list('euler = "xyz"').preparation.orders == {"": "XYZ"}


def edit(words: str) -> str:
    return f"[[edit]]\n{words}"


GOOD = 'point = "Hand"\ntime = 0.4\nby = [0, 1, 0]\n'


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "", "should say what to edit"),
        ("edit = 3", "edit", "[[edit]]"),
        ("clip = 3", "", "clip should be a name, but is 3"),
        ("klip = 'x'", "", "did you mean 'clip'"),
        ("[[edit]\n", "line 1", "is not TOML"),
        ("keys = [0, 0.5, 0.5]", "keys", "0.5 s follows 0.5 s"),
        ("keys = [0, nan]", "keys", "keys[1] should be a number, but is nan"),
        ("keys = [1]", "keys", "at least two"),
        ("keys = [0, 1]\nreduce = {tolerance_mm = 1}", "reduce", "give one of them"),
        ("reduce = {tolerance = 1}", "reduce", "did you mean 'tolerance_mm'"),
        ("reduce = {}", "reduce", "needs `tolerance_mm`"),
        ("reduce = {tolerance_mm = 0}", "reduce", "tolerance_mm should be a number"),
        ("tangents = 'flat'", "tangents", "of which there are none"),
        ("keys = [0, 1]\ntangents = 'soft'", "tangents", "but is 'soft'"),
        ("euler = {Arm = 'XXY'}", "euler", "'XXY'"),
        (edit(GOOD + "kind = 'mov'"), "edit 1", "did you mean 'move'"),
        (edit(GOOD + "pin = ['Hips']"), "edit 1", "did you mean 'pins'"),
        (edit("point = 'Hand'\ntime = 0.4"), "edit 1", "should say where to"),
        (edit("time = 0.4\nby = [0, 1, 0]"), "edit 1", "has no `point`"),
        (edit("point = 'Hand'\nby = [0, 1, 0]"), "edit 1", "has no `time`"),
        (edit(GOOD + "to = [0, 1, 0]"), "edit 1", "says both"),
        (edit("point = 'Hand'\ntime = nan\nby = [0, 1, 0]"), "edit 1", "time should be a number, but is nan"),
        (edit("point = 'Hand'\ntime = 0.4\nby = [0, inf, 0]"), "edit 1", "a place [x, y, z] in metres"),
        (edit("point = 'Hand'\ntime = 0.4\nby = [0, 1]"), "edit 1", "a place [x, y, z] in metres"),
        (edit("point = 'Hand'\ntime = 0.4\nturn_to = [0, 0, 0, 0]"), "edit 1", "has no length"),
        (edit("point = 'Hand'\ntime = 0.4\nturn_to = [0, 0, 1]"), "edit 1", "a quaternion [x, y, z, w]"),
        (edit("point = {vertex = -1}\ntime = 0.4\nby = [0, 1, 0]"), "edit 1", "whole number"),
        (edit("point = {vertex = 1, joint = 'a'}\ntime = 0.4\nby = [0, 1, 0]"), "edit 1", "whole number alone"),
        (edit("point = 7\ntime = 0.4\nby = [0, 1, 0]"), "edit 1", "point should be a joint's name"),
        (edit(GOOD + "moves = [{point = 'Hand', time = 0, by = [0, 0, 1]}]"), "edit 1", "not both"),
        (edit("moves = [3]"), "edit 1, moves 1", "should be a table"),
        (edit("moves = [{point = 'Hand', time = 0, by = [0, 0, 1], pins = []}]"), "edit 1, moves 1", "no key 'pins'"),
        (edit(GOOD + "pins = [{orientation = false}]"), "edit 1, pins 1", "needs a `point`"),
        (edit(GOOD + "pins = ['A', {point = 'B', start = 0.5, stop = 0.5}]"), "edit 1, pins 2", "after start"),
        (edit(GOOD + "pins = [{point = 'B', position = false, orientation = false}]"), "edit 1, pins 1", "neither"),
        (edit(GOOD + "contacts = [{point = 'B', start = 0.5}]"), "edit 1, contacts 1", "`start` and `stop`"),
        (edit(GOOD + "contacts = [{point = 'B', start = 1, stop = 0.5}]"), "edit 1, contacts 1", "after start"),
        (edit(GOOD + "holds = ['B']"), "edit 1, holds 1", "has no `time`"),
        (edit(GOOD + "limits = [{target = 'B', column = 'x'}]"), "edit 1, limits 1", "needs `low`"),
        (edit(GOOD + "limits = [{target = 'B', column = 'x', low = 2, high = 1}]"), "edit 1, limits 1", "should rise"),
        (edit(GOOD + "limits = [{target = 'B', column = 'x', low = 2, low_degrees = 1}]"), "edit 1, limits 1", "both"),
        (edit(GOOD + "limits = ['B']"), "edit 1, limits 1", "should be a table"),
        (edit(GOOD + "stiffness = {Spine = -1}"), "edit 1", "stiffness of 'Spine'"),
        (edit(GOOD + "start = 0.5\nstop = 0.5"), "edit 1", "after start"),
        (edit(GOOD + "edges = 'soft'"), "edit 1", "edges should be one of"),
        (edit(GOOD + "arcs = [{start = 0, stop = 1}]"), "edit 1, arcs 1", "needs a `point`"),
        (edit(GOOD + "arcs = [{point = 'A', start = 0}]"), "edit 1, arcs 1", "`start` and `stop`"),
        (edit(GOOD + "flights = [{start = 0, stop = 1, weight = 0}]"), "edit 1, flights 1", "above zero"),
        (edit(GOOD + "flights = [{start = 0, stop = 1, gravity = 9.81}]"), "edit 1, flights 1", "gravity should be"),
        (edit(GOOD + "accept = ['give up']"), "edit 1", "accept[0] should be one of"),
        (edit(GOOD + "name = ''"), "edit 1", "name should be a name"),
        (edit("kind = 'pose'\ntime = 0"), "edit 1", "needs points to drag"),
        (edit("kind = 'pose'\nset = {a = 1}"), "edit 1", "has no `time`"),
        (edit("kind = 'pose'\ntime = 0\nset = {a = nan}"), "edit 1", "set of 'a'"),
        (edit("kind = 'timing'\ntime = 0"), "edit 1", "needs a `factor`"),
        (edit("kind = 'timing'\ntime = 0\nfactor = 0"), "edit 1", "factor should be a number"),
        (edit("kind = 'timing'\ntime = 0\nfactor = 2\npins = ['A']"), "edit 1", "need a `point`"),
        (edit("kind = 'timing'\ntime = 0\nfactor = 2\npoint = 'A'\ntargets = 'B'"), "edit 1", "not both"),
        (
            edit("kind = 'sketch'\npoint = 'A'\nstroke = [[0, 0, 0, 0], [1, 1, 1, 1]]\nstart = 0"),
            "edit 1",
            "begins and ends with them",
        ),
        (edit("kind = 'key'\ntime = 0\nremove = 1"), "edit 1", "true or false"),
        (edit("kind = 'key'\ntime = 0\nremove = true\nto_time = 1"), "edit 1", "not both"),
        (edit("kind = 'tangents'"), "edit 1", "need a `method`"),
        (edit("kind = 'tangents'\nmethod = 'auto'"), "edit 1", "method should be one of"),
        (edit("kind = 'sketch'\npoint = 'Hand'"), "edit 1", "needs a `stroke`"),
        (edit("kind = 'sketch'\npoint = 'Hand'\nstroke = [[0, 0, 0]]"), "edit 1", "at least two"),
        (edit("kind = 'sketch'\npoint = 'Hand'\nstroke = [[0, 0, 0], [1, 1, 1]]"), "edit 1", "`start` and `stop`"),
        (edit("kind = 'sketch'\npoint = 'Hand'\nstroke = [[0, 0, 0, 0], [1, 1, 1]]"), "edit 1", "stroke[1]"),
        (edit("kind = 'sketch'\npoint = 'Hand'\nstroke = [[1, 0, 0, 0], [1, 1, 1, 1]]"), "edit 1", "should increase"),
        (edit(GOOD) + "[[edit]]\nkind = 'tangents'\nmethod = 3", "edit 2", "method should be a name"),
    ],
)
def test_mistakes_are_one_sentence_with_their_place(text: str, place: str, words: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse_edit_list(text, "reach.toml")
    assert str(caught.value).startswith(f"reach.toml, {place}" if place else "reach.toml: ")
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_huge_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_list_parser, "MAX_EDIT_LIST_CHARS", 20)
    with pytest.raises(BadFile, match="at most"):
        parse_edit_list("# " + "x" * 50)
    monkeypatch.setattr(edit_list_parser, "MAX_EDIT_LIST_CHARS", 1000)
    monkeypatch.setattr(edit_list_parser, "MAX_EDIT_STEPS", 2)
    with pytest.raises(BadFile, match="at most 2 edits"):
        parse_edit_list(edit(GOOD) * 3)


VALUES = ("nan", "-1", "[]", "{}", '""', "true", "[[1]]", "1e400", "[1, 2, 3]", '{point = "x"}', "9999999999999999999")


def test_damaged_files_are_refused_or_read_but_never_break() -> None:
    rng = np.random.default_rng(0)
    lines = EVERYTHING.splitlines()
    for _ in range(400):
        damaged = list(lines)
        for at in rng.integers(0, len(damaged), rng.integers(1, 4)):
            name, equals, _ = damaged[at].partition("=")
            change = rng.integers(0, 3)
            if change == 0 and equals:
                damaged[at] = f"{name}= {VALUES[rng.integers(0, len(VALUES))]}"
            elif change == 1:
                damaged[at] = damaged[int(rng.integers(0, len(lines)))]
            else:
                damaged[at] = ""
        try:
            parse_edit_list("\n".join(damaged), "x.toml")
        except BadFile as error:
            assert str(error).startswith("x.toml") and "\n" not in str(error)


def test_the_documented_example_can_be_read() -> None:
    text = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    found = parse_edit_list(example)
    assert found.clip == "Walk" and len(found.steps) == 1
    for kind, keys in STEP_KEYS.items():
        section = text[text.index("## `edit`") : text.index("## `reduce`")]
        assert f"`{kind}`" in section and all(key in section for key in keys)
