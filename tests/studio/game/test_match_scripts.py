"""Scripts of moods: they name what the dragon has, in the paper's commands; others get what they can show."""

from __future__ import annotations

from functools import cache

import pytest
from tests.learned import lamp_model

from understudy import cast
from understudy.perform.commands import Command, GoTo, Idle, LookAt, PlayClip, Transition
from understudy.perform.script import ModelVocabulary, Script, Variant
from understudy.studio.game import match
from understudy.studio.game.state import MOODS, Mood

SHAKES = ("refusing", "blocked", "cornered", "draw")


@cache
def dragon() -> ModelVocabulary:
    """What a model of all the dragon's clips would have."""
    animations = cast.load("dragon").animations
    labels = tuple(dict.fromkeys(label for clip in animations for label in clip.labels))
    return ModelVocabulary(
        labels, tuple(cast.poses("dragon")), {clip.name: float(clip.duration) for clip in animations}
    )


def commands(mood: Mood) -> list[tuple[Variant, Command]]:
    return [
        (variant, step.action)
        for variant in match.load_scripts(mood).sets[mood]
        for step in variant.steps
        if isinstance(step.action, Command)
    ]


@pytest.mark.parametrize("mood", MOODS)
def test_the_dragon_can_play_every_script(mood: Mood) -> None:
    script = match.load_scripts(mood)
    script.check(dragon())
    assert len(script.sets[mood]) >= 2, "a mood with one script is the same each time"


@pytest.mark.parametrize("mood", MOODS)
def test_moods_are_made_of_the_papers_commands(mood: Mood) -> None:
    """TRANSITION, MOVE and IDLE, PLAY for shakes of the head alone [Bailey 2016, section 6]; and looks."""
    for _, command in commands(mood):
        assert isinstance(command, (Transition, GoTo, Idle, PlayClip, LookAt))
        if isinstance(command, PlayClip):
            assert mood in SHAKES and command.clip.startswith("shake")
    assert any(isinstance(command, PlayClip) for _, command in commands(mood)) == (mood in SHAKES)


@pytest.mark.parametrize("mood", MOODS)
def test_every_script_looks_somewhere_first(mood: Mood) -> None:
    for variant in match.load_scripts(mood).sets[mood]:
        assert isinstance(variant.steps[0].action, LookAt)


def test_pondering_lasts_longer_than_the_longest_thought() -> None:
    for variant in match.load_scripts("pondering").sets["pondering"]:
        seconds = sum(getattr(step.action, "seconds", None) or 0.0 for step in variant.steps)
        assert seconds >= 4.0


def test_a_place_has_one_name() -> None:
    assert set(match.place_names().values()) == {
        "board", "first", "second", "chosen", "last", "player", "thought", "elsewhere",
    }  # fmt: skip


def test_every_mood_has_its_wishes() -> None:
    assert set(match.load_mood_requirements()) == set(MOODS)
    for wish in match.load_mood_requirements().values():
        assert len(set(wish.labels)) == len(wish.labels) > 3


def test_wishes_are_granted_by_words_in_their_order() -> None:
    robot = ("Dance", "Death", "Idle", "Jump", "No", "ThumbsUp", "Wave")
    assert match.resolve_mood(("thumbs up", "dance"), robot) == "ThumbsUp"
    assert match.resolve_mood(("head shake", "no"), robot) == "No"
    assert match.resolve_mood(("happy",), robot) == "Dance"
    assert match.resolve_mood(("idle",), ("Walk", "Armature|Idle_Long")) == "Armature|Idle_Long"
    assert match.resolve_mood(("no",), ("Normal", "Snort")) == "Normal", "a word is not a part of a word"


def test_a_model_without_those_clips_plays_all_moods_with_the_labels_it_has() -> None:
    model = lamp_model()
    found = match.scripts_for_model(model)
    assert set(found.scripts) == set(found.plain) == set(MOODS)
    for mood, variants in found.scripts.items():
        assert variants
        for variant in variants:
            Script("", variant.steps).check(model)
            assert found.plain[mood] in model.labels
            played = [step.action for step in variant.steps if isinstance(step.action, PlayClip)]
            assert bool(played) == match.load_mood_requirements()[mood].play
    assert found.plain["surprised"] == match.resolve_mood(
        match.load_mood_requirements()["surprised"].labels, model.labels
    )
