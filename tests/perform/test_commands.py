"""Commands: plain frozen data, checked when it is made, each refusal in words that name the field."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InvalidInput
from understudy.perform.commands import (
    COMMAND_KINDS,
    MAX_LIVELINESS,
    ClipTime,
    Command,
    Go,
    GoTo,
    Idle,
    LookAt,
    Mix,
    PlayClip,
    Transition,
    TurnTo,
    clip_time,
)

ONE_OF_EACH: tuple[Callable[..., Command], ...] = (
    lambda **dials: GoTo("smile", **dials),
    lambda **dials: Idle(**dials),
    lambda **dials: Transition("happy", **dials),
    lambda **dials: PlayClip("laugh", **dials),
    lambda **dials: Mix(("happy", "bored"), 0.5, **dials),
    lambda **dials: LookAt("camera", **dials),
    lambda **dials: Go(1.4, 90, **dials),
    lambda **dials: TurnTo(90, **dials),
)


def test_every_command_has_its_word() -> None:
    assert set(COMMAND_KINDS) == {"move", "idle", "transition", "play", "mix", "look", "go", "turn"}
    assert [make().word for make in ONE_OF_EACH] == list(COMMAND_KINDS)


@pytest.mark.parametrize("make", ONE_OF_EACH, ids=list(COMMAND_KINDS))
def test_every_command_takes_the_dials(make: Callable[..., Command]) -> None:
    assert make().liveliness is None and make().stillness is None
    told = make(liveliness=2, stillness=1)
    assert (told.liveliness, told.stillness) == (2.0, 1.0)
    for name, value in [
        ("liveliness", -0.1),
        ("liveliness", MAX_LIVELINESS + 1),
        ("stillness", 1.1),
        ("stillness", True),
    ]:
        with pytest.raises(InvalidInput, match=f"{name} should be a number from 0"):
            make(**{name: value})


@pytest.mark.parametrize("make", ONE_OF_EACH, ids=list(COMMAND_KINDS))
def test_commands_are_frozen_values(make: Callable[..., Command]) -> None:
    assert make() == make() and hash(make()) == hash(make())
    with pytest.raises(FrozenInstanceError):
        make().liveliness = 1.0  # type: ignore[misc]


def test_lists_become_tuples_and_numbers_floats() -> None:
    assert Idle(["a", "b"]).poses == ("a", "b")  # type: ignore[arg-type]
    assert Idle("a").poses == ("a",)  # type: ignore[arg-type]
    assert Mix(["a", "b"], 1).labels == ("a", "b")  # type: ignore[arg-type]
    assert LookAt([1, 2, 3]).at == (1.0, 2.0, 3.0)  # type: ignore[arg-type]
    assert isinstance(GoTo("a", seconds=2).seconds, float)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GoTo(""), "pose should be a name"),
        (lambda: GoTo(3), "pose should be a name"),
        (lambda: GoTo("a", seconds=0), "seconds should be a number above 0, but is 0"),
        (lambda: GoTo("a", seconds=math.nan), "seconds should be"),
        (lambda: GoTo("a", seconds="2"), "seconds should be"),
        (lambda: GoTo("a", path="curve"), "'graph' or 'straight', but is 'curve'"),
        (lambda: GoTo("run@-1"), "moment of at least 0 s"),
        (lambda: Idle(3), "poses should be a list"),
        (lambda: Idle(["a", 3]), "poses should be a list of names, but holds 3"),
        (lambda: Idle(["run@-1"]), "moment of at least 0 s"),
        (lambda: Idle(hover=-1), "hover should be a number of at least 0"),
        (lambda: Idle(hover=None), "hover"),
        (lambda: Idle(radius=-1), "radius"),
        (lambda: Transition(""), "label should be a name"),
        (lambda: Transition(None), "label should be a name"),
        (lambda: PlayClip("a", 2, 1), "stop should be after start"),
        (lambda: PlayClip("a", stop=0), "stop should be after start"),
        (lambda: PlayClip("a", -1), "start should be a number of at least 0"),
        (lambda: Mix(("a",), 0.5), "two different labels"),
        (lambda: Mix(("a", "a"), 0.5), "two different labels"),
        (lambda: Mix(("a", "b"), 1.5), "weight should be a number from 0 to 1"),
        (lambda: Mix(("a", "b"), None), "weight"),
        (lambda: Mix(("a", "b"), 0.5, ("x",)), "one for each label, but there are 1"),
        (lambda: LookAt((1, 2)), "place"),
        (lambda: Go(-1), "speed should be a number of at least 0"),
        (lambda: Go(1, math.nan), "heading should be a number"),
        (lambda: TurnTo(), "either a heading or a point"),
        (lambda: TurnTo(90, (0, 0, 1)), "either a heading or a point"),
        (lambda: TurnTo(point=(0, 1)), "point should be a place"),  # type: ignore[arg-type]
        (lambda: LookAt((1, 2, math.inf)), "finite"),
        (lambda: LookAt(" "), "empty"),
        (lambda: LookAt(None), "place"),
    ],
)
def test_what_has_no_meaning_is_refused(make: Callable[[], Command], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make()


@given(st.text(min_size=1), st.floats(0, 1e6))
def test_a_moment_reads_back(clip: str, seconds: float) -> None:
    assert clip_time(f"{clip}@{seconds!r}") == ClipTime(clip, seconds)


@pytest.mark.parametrize("name", ["smile", "idle@home", "@2", "a@", "a@nan", "a@inf"])
def test_other_names_are_no_moments(name: str) -> None:
    assert clip_time(name) is None
