"""Scripts of moods: they name what the dragon has, in the paper's commands; others get what they can show."""

from __future__ import annotations

from functools import cache

import pytest
from tests.learned import lamp_model

from understudy import cast
from understudy.live.commands import Command, Idle, Look, Move, Play, Transition
from understudy.live.script import Script, Variant
from understudy.live.script_check import Repertoire
from understudy.studio.game import casting
from understudy.studio.game.moods import MOODS, Mood

SHAKES = ("refusing", "blocked", "cornered", "draw")


@cache
def dragon() -> Repertoire:
    """What a model of all the dragon's clips would have."""
    animations = cast.load("dragon").animations
    labels = tuple(dict.fromkeys(label for clip in animations for label in clip.labels))
    return Repertoire(labels, tuple(cast.poses("dragon")), {clip.name: float(clip.duration) for clip in animations})


def commands(mood: Mood) -> list[tuple[Variant, Command]]:
    return [
        (variant, step.action)
        for variant in casting.written(mood).sets[mood]
        for step in variant.steps
        if isinstance(step.action, Command)
    ]


@pytest.mark.parametrize("mood", MOODS)
def test_the_dragon_can_play_every_script(mood: Mood) -> None:
    script = casting.written(mood)
    script.check(dragon())
    assert len(script.sets[mood]) >= 2, "a mood with one script is the same each time"


@pytest.mark.parametrize("mood", MOODS)
def test_moods_are_made_of_the_papers_commands(mood: Mood) -> None:
    """TRANSITION, MOVE and IDLE, PLAY for shakes of the head alone [Bailey 2016, section 6]; and looks."""
    for _, command in commands(mood):
        assert isinstance(command, (Transition, Move, Idle, Play, Look))
        if isinstance(command, Play):
            assert mood in SHAKES and command.clip.startswith("shake")
    assert any(isinstance(command, Play) for _, command in commands(mood)) == (mood in SHAKES)


@pytest.mark.parametrize("mood", MOODS)
def test_every_script_looks_somewhere_first(mood: Mood) -> None:
    for variant in casting.written(mood).sets[mood]:
        assert isinstance(variant.steps[0].action, Look)


def test_pondering_lasts_longer_than_the_longest_thought() -> None:
    for variant in casting.written("pondering").sets["pondering"]:
        seconds = sum(getattr(step.action, "seconds", None) or 0.0 for step in variant.steps)
        assert seconds >= 4.0


def test_a_place_has_one_name() -> None:
    assert set(casting.places().values()) == {
        "board", "first", "second", "chosen", "last", "player", "thought", "elsewhere",
    }  # fmt: skip


def test_every_mood_has_its_wishes() -> None:
    assert set(casting.wishes()) == set(MOODS)
    for wish in casting.wishes().values():
        assert len(set(wish.labels)) == len(wish.labels) > 3


def test_wishes_are_granted_by_words_in_their_order() -> None:
    robot = ("Dance", "Death", "Idle", "Jump", "No", "ThumbsUp", "Wave")
    assert casting.granted(("thumbs up", "dance"), robot) == "ThumbsUp"
    assert casting.granted(("head shake", "no"), robot) == "No"
    assert casting.granted(("happy",), robot) == "Dance"
    assert casting.granted(("idle",), ("Walk", "Armature|Idle_Long")) == "Armature|Idle_Long"
    assert casting.granted(("no",), ("Normal", "Snort")) == "Normal", "a word is not a part of a word"


def test_a_model_without_those_clips_plays_all_moods_with_the_labels_it_has() -> None:
    model = lamp_model()
    found = casting.cast_for(model)
    assert set(found.scripts) == set(found.plain) == set(MOODS)
    for mood, variants in found.scripts.items():
        assert variants
        for variant in variants:
            Script("", variant.steps).check(model)
            assert found.plain[mood] in model.labels
            played = [step.action for step in variant.steps if isinstance(step.action, Play)]
            assert bool(played) == casting.wishes()[mood].play
    assert found.plain["surprised"] == casting.granted(casting.wishes()["surprised"].labels, model.labels)
