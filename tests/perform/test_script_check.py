"""A script against a repertoire: names that exist pass, come back as the model writes them, and others are refused."""

from __future__ import annotations

import pytest

from understudy.errors import BadFile
from understudy.perform.commands import GoTo, Idle, Mix, PlayClip, Transition
from understudy.perform.script import ModelVocabulary, parse_script

KNOWN = ModelVocabulary(("happy", "grumpy"), ("smile", "pout"), {"laugh": 2.0, "Armature|Walk": 1.0, "sulk@home": 3.0})


def checked(text: str):
    return parse_script(text, "scene.toml").check(KNOWN)


def line(**words: str) -> str:
    return "[[do]]\n" + "\n".join(f"{key} = {value}" for key, value in words.items())


def test_known_names_pass() -> None:
    text = 'label = "happy"\npose = "laugh@2"\n' + "\n".join(
        [
            line(command='"move"', pose='"smile"', label='"grumpy"'),
            line(command='"idle"', poses='["smile", "sulk@home@2.5"]', seconds="1"),
            line(command='"transition"', label='"happy"'),
            line(command='"mix"', labels='["happy", "grumpy"]', weight="0.5", poses='["smile", "pout"]', seconds="1"),
            line(command='"play"', clip='"laugh"', start="0", stop="2"),
            line(command='"look"', target='"camera"'),
        ]
    )
    script = parse_script(text, "scene.toml")
    assert script.check(KNOWN) == script


def test_names_come_back_as_the_model_writes_them() -> None:
    text = line(command='"play"', clip='"Walk"', stop="1.0004") + "\n" + line(command='"move"', pose='"Walk@1.0004"')
    steps = checked(text).steps
    assert steps[0].action == PlayClip("Armature|Walk", stop=1.0)
    assert steps[1].action == GoTo("Armature|Walk@1.0")
    change = checked(line(command='"transition"', label='"Armature|happy"')).steps[0].action
    assert change == Transition("happy"), "the name of a clip, as info prints it"


def test_sets_are_checked_too() -> None:
    text = line(command='"one_of"', set='"a"') + '\n[[set.a]]\ndo = [{command = "play", clip = "Walk"}]'
    assert checked(text).sets["a"][0].steps[0].action == PlayClip("Armature|Walk")
    with pytest.raises(BadFile, match=r"scene.toml, set a 1, do 1: there is no clip 'run'"):
        checked(text.replace("Walk", "run"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('label = "sad"\n' + line(command='"idle"', seconds="1"), "scene.toml: there is no label 'sad' in the model"),
        ('pose = "grin"\n' + line(command='"idle"', seconds="1"), "scene.toml: there is no pose 'grin'"),
        (
            line(command='"transition"', label='"hapy"'),
            "do 1: there is no label 'hapy' in the model (did you mean 'happy'?)",
        ),
        (line(command='"transition"', label='"sad"'), "it has 'grumpy', 'happy'"),
        (line(command='"mix"', labels='["happy", "sad"]', weight="0", seconds="1"), "no label 'sad'"),
        (line(command='"move"', pose='"smlie"'), "no pose 'smlie' in the model (did you mean 'smile'?)"),
        (line(command='"move"', pose='"laugh"'), 'it is a clip, of which a moment would be "laugh@1"'),
        (line(command='"move"', pose='"laugh@2.1"'), "'laugh', which is 2.000 s long, but is at 2.1 s"),
        (line(command='"move"', pose='"giggle@1"'), "there is no clip 'giggle'"),
        (line(command='"idle"', poses='["smile", "grin"]', seconds="1"), "no pose 'grin'"),
        (line(command='"play"', clip='"laugh"', start="2.5"), "start should lie in clip 'laugh'"),
        (line(command='"play"', clip='"laugh"', stop="2.5"), "stop should lie in clip 'laugh'"),
    ],
)
def test_unknown_names_are_refused_with_what_exists(text: str, words: str) -> None:
    with pytest.raises(BadFile) as caught:
        checked(text)
    assert words in str(caught.value)


def test_a_command_without_names_is_left_alone() -> None:
    assert checked(line(command='"idle"', seconds="1")).steps[0].action == Idle(seconds=1.0)
    assert ModelVocabulary((), (), {}).poses == ()
    with pytest.raises(BadFile, match="it has no named poses"):
        parse_script(line(command='"move"', pose='"a"')).check(ModelVocabulary((), (), {}))


def test_mixing_keeps_the_order_of_labels() -> None:
    text = line(command='"mix"', labels='["grumpy", "happy"]', weight="0.1", seconds="1")
    assert checked(text).steps[0].action == Mix(("grumpy", "happy"), 0.1, seconds=1.0)
