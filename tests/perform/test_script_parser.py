"""Scripts: what they say is what is read, and each mistake gets one sentence with file, place and what was expected."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import BadFile
from understudy.perform.commands import GoTo, Idle, LookAt, Mix, PlayClip, Transition
from understudy.perform.script import OneOf, ScriptStep, Variant, parse_script

WHOLE = """
rate = 30
label = "neutral"
pose = "rest"
seconds = 20

[points]
ball = [1, 2, 3]

[[do]]
command = "move"
pose = "laugh@1.5"
label = "happy"
seconds = 2
path = "straight"
liveliness = 0.5

[[do]]
command = "idle"
pose = "smile"
at = 4
hover = 1
stillness = 1

[[do]]
command = "transition"
at = 6.5
label = "bored"

[[do]]
command = "play"
clip = "roar"
start = 0.5

[[do]]
command = "mix"
labels = ["happy", "bored"]
weight = 0.25
seconds = 3

[[do]]
command = "look"
target = "ball"

[[do]]
command = "look"
target = "camera"

[[do]]
command = "one_of"
set = "hello"

[[set.hello]]
weight = 2
[[set.hello.do]]
command = "idle"
seconds = 1
[[set.hello.do]]
command = "play"
clip = "roar"
at = 0.5

[[set.hello]]
do = [{command = "look", target = "forward"}]
"""


def test_all_that_a_script_can_say() -> None:
    script = parse_script(WHOLE, "scene.toml")
    assert (script.path, script.rate, script.label, script.pose, script.seconds) == (
        "scene.toml",
        30.0,
        "neutral",
        "rest",
        20.0,
    )
    assert script.steps == (
        ScriptStep("do 1", GoTo("laugh@1.5", "happy", 2.0, "straight", liveliness=0.5)),
        ScriptStep("do 2", Idle(("smile",), hover=1.0, stillness=1.0), 4.0),
        ScriptStep("do 3", Transition("bored"), 6.5),
        ScriptStep("do 4", PlayClip("roar", 0.5)),
        ScriptStep("do 5", Mix(("happy", "bored"), 0.25, seconds=3.0)),
        ScriptStep("do 6", LookAt((1.0, 2.0, 3.0))),
        ScriptStep("do 7", LookAt("camera")),
        ScriptStep("do 8", OneOf("hello")),
    )
    assert script.sets["hello"] == (
        Variant(
            (
                ScriptStep("set hello 1, do 1", Idle(seconds=1.0)),
                ScriptStep("set hello 1, do 2", PlayClip("roar"), 0.5),
            ),
            2.0,
        ),
        Variant((ScriptStep("set hello 2, do 1", LookAt("forward")),)),
    )


def test_a_script_may_be_short() -> None:
    script = parse_script('[[do]]\ncommand = "idle"\nseconds = 1')
    assert script.rate == 24 and script.steps == (ScriptStep("do 1", Idle(seconds=1.0)),)
    assert script.seconds is None and not script.sets


def do(line: str) -> str:
    return f"[[do]]\n{line}"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("rate = ?", "line 1, column 8", "is not TOML: invalid value"),
        ("", "", "should have at least one step"),
        ("rate = 24", "", "[[do]]"),
        ("do = 3", "do", "but is 3"),
        ("do = [3]", "do 1", "a table with a `command`, but is 3"),
        ("rat = 24", "", "'rat' (did you mean 'rate'?)"),
        ("rate = 0\n" + do('command = "idle"'), "", "rate should be a number from 1 to 1000, but is 0"),
        ('rate = "24"\n' + do('command = "idle"'), "", "rate should be a number"),
        ("rate = nan\n" + do('command = "idle"'), "", "but is nan"),
        ("seconds = -1\n" + do('command = "idle"'), "", "seconds should be a number from above 0 to 3600"),
        (do("pose = 'a'"), "do 1", "has no command"),
        (do('command = "mvoe"'), "do 1", "no command 'mvoe' (did you mean 'move'?)"),
        (do('command = "fly"'), "do 1", "commands are 'move', 'idle'"),
        (do("command = 3"), "do 1", "no command 3"),
        (do('command = "move"'), "do 1", "move needs `pose`"),
        (do('command = "look"'), "do 1", "look needs `target`"),
        (do('command = "move"\npose = "a"\nsecond = 1'), "do 1", "'second' (did you mean 'seconds'?)"),
        (do('command = "move"\nposes = ["a"]'), "do 1", "'poses' (did you mean 'pose'?)"),
        (do('command = "play"\nclip = "a"\nseconds = 2'), "do 1", "seconds is the duration of a loop"),
        (
            do('command = "move"\npose = "a"\nseconds = -2'),
            "do 1",
            "seconds should be a number from 0 to 3600, but is -2",
        ),
        (do('command = "move"\npose = "a"\nseconds = 0'), "do 1", "move: seconds should be a number above 0"),
        (do('command = "idle"\npose = "a"\nposes = ["b"]'), "do 1", "mean the same"),
        (do('command = "idle"\nat = -1'), "do 1", "at should be a number from 0"),
        (do('command = "look"\nat = "camera"'), "do 1", "where to look is said by `target`"),
        (do('command = "look"\ntarget = "camra"'), "do 1", "no point 'camra' to look at (did you mean 'camera'?)"),
        (do('command = "look"\ntarget = [1, 2]'), "do 1", "look: target should be a place"),
        (do('command = "mix"\nlabels = ["a", "a"]\nweight = 0.5\nseconds = 1'), "do 1", "two different labels"),
        (do('command = "idle"'), "do 1", "has no end; give it `seconds`, or the script"),
        (
            do('command = "idle"') + "\n" + do('command = "play"\nclip = "a"'),
            "do 1",
            "or the step after it a time `at`",
        ),
        (
            do('command = "idle"\nat = 2\nseconds = 1') + "\n" + do('command = "idle"\nat = 1\nseconds = 1'),
            "do 2",
            "2 s",
        ),
        (do('command = "one_of"\nset = "hello"'), "do 1", "there are none in this file"),
        (do('command = "one_of"'), "do 1", "there is no set None"),
        ("[[set.a]]\n" + do('command = "idle"\nseconds = 1'), "set a 1", "should hold commands"),
        ("set = 3", "set", "but is 3"),
        ("[set]\na = []", "set a", "an empty list"),
        ("[[set.a]]\nbias = 2", "set a 1", "'bias'"),
        ('[[set.a]]\ndo = [{command = "one_of", set = "a"}]', "set a 1, do 1", "cannot call another set"),
        ('[[set.a]]\ndo = [{command = "idle"}]', "set a 1, do 1", "give it `seconds`"),
        ("[points]\ncamera = [0, 0, 0]", "points", "give this one another name"),
        ("[points]\nball = [0, 0]", "points", "place [x, y, z]"),
        ("points = 3", "points", "but is 3"),
        ("label = 3\n" + do('command = "idle"\nseconds = 1'), "", "label should be a name"),
    ],
)
def test_each_mistake_is_told_in_one_sentence(text: str, place: str, words: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse_script(text, "scene.toml")
    sentence = str(caught.value)
    assert sentence.startswith("scene.toml") and words in sentence and "\n" not in sentence
    assert caught.value.place.startswith(place) if place else not caught.value.place


def test_a_set_that_does_not_exist_is_answered_with_those_that_do() -> None:
    text = do('command = "one_of"\nset = "helo"') + '\n[[set.hello]]\ndo = [{command = "play", clip = "a"}]'
    with pytest.raises(BadFile, match=r"'helo' \(did you mean 'hello'\?\); sets here are 'hello'"):
        parse_script(text)


VALUES = st.recursive(
    st.one_of(st.integers(-3, 3), st.floats(), st.booleans(), st.sampled_from(["idle", "move", "a", ""])).map(repr),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    max_leaves=4,
)
KEYS = st.sampled_from(
    ["command", "at", "pose", "poses", "label", "labels", "seconds", "target", "weight", "set", "clip"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=3), st.sampled_from(["do", "set.a", "points"]))
def test_nonsense_is_refused_or_read_and_never_breaks(tables: list[dict[str, str]], head: str) -> None:
    text = ""
    for table in tables:
        lines = "\n".join(f"{key} = {value}" for key, value in table.items())
        text += f"[[{head}]]\n{lines.replace('True', 'true').replace('False', 'false')}\n"
    try:
        assert parse_script(text, "x.toml").steps
    except BadFile as error:
        assert str(error).startswith("x.toml")
