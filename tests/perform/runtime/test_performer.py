"""The performer on the lamp: every command, interruption at any moment, exact replay, the dials."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.errors import InvalidInput
from understudy.perform.commands import Command, GoTo, Idle, LookAt, Mix, PlayClip, Transition
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState, replace_state

RATE = 24.0


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(lamp_model(), lamp_rig(), RATE, seed=3, layers=False)


def played(
    performer: Performer, state: PerformerState, command: Command | None, frames: int
) -> tuple[PerformerState, np.ndarray, np.ndarray]:
    """The state after some frames, the features (F, E) and the rows (F, C) on the way."""
    features, rows = [], []
    for _ in range(frames):
        state, row = performer.step(state, command)
        command = None
        features.append(state.features)
        rows.append(row)
    return state, np.array(features), np.array(rows)


def fastest_change(performer: Performer) -> float:
    """The largest change of velocity from frame to frame in any clip, by the model's weights, per second."""
    model, most = performer.model, 0.0
    for space in model.spaces.values():
        for segment in space.segments:
            own = space.features[segment.start : segment.stop].astype(float)
            velocity = np.diff(own, axis=0) * space.rate
            most = max(most, float(model.difference(velocity[1:], velocity[:-1]).max()))
    return most


def random_command(random: np.random.Generator) -> Command:
    labels = lamp_model().labels
    label = str(random.choice(labels))
    length = len(lamp_model().spaces[label]) / RATE
    pose = f"{label}@{random.uniform(0, 0.9 * length):.2f}"
    other = str(random.choice([name for name in labels if name != label]))
    return [
        lambda: GoTo(pose),
        lambda: GoTo(pose, path="straight", seconds=float(random.uniform(0.4, 2))),
        lambda: Idle((pose,)),
        lambda: Idle((pose, f"{label}@0"), hover=0.3),
        lambda: Transition(label),
        lambda: Transition(label, pose),
        lambda: PlayClip(label, start=float(random.uniform(0, 0.5 * length))),
        lambda: Mix((label, other), float(random.uniform(0.2, 0.8))),
        lambda: Idle(liveliness=float(random.uniform(0, 2)), stillness=float(random.uniform(0, 1))),
    ][random.integers(9)]()


def test_replay_is_exact(performer: Performer) -> None:
    def take() -> tuple[np.ndarray, PerformerState]:
        random, state, rows = np.random.default_rng(5), performer.init("sad", seed=8), []
        for frame in range(240):
            state, row = performer.step(state, random_command(random) if frame % 37 == 0 else None)
            rows.append(row)
        return np.array(rows), state

    first, state = take()
    second, _ = take()
    assert np.array_equal(first, second)
    ahead = [performer.step(state)[1] for _ in range(2)]
    assert np.array_equal(ahead[0], ahead[1]), "a state was changed by stepping from it"


def test_another_seed_is_another_take(performer: Performer) -> None:
    takes = [played(performer, performer.init("sad", seed=seed), None, 48)[1] for seed in (1, 2)]
    assert np.abs(takes[0] - takes[1]).max() > 1e-4


def test_together_is_as_alone(performer: Performer) -> None:
    commands = [Transition("happy"), Idle(), PlayClip("hop"), Mix(("sad", "hop"), 0.4)]
    starts = [performer.init("sad", seed=seed) for seed in range(4)]
    alone = [played(performer, state, command, 40)[1] for state, command in zip(starts, commands)]
    states, told = starts, commands
    for frame in range(40):
        states, _ = performer.step_all(states, told)
        told = None
        for state, features in zip(states, alone):
            assert np.array_equal(state.features, features[frame]), "to the last bit"


def test_nobody_can_be_performed(performer: Performer) -> None:
    states, rows = performer.step_all([])
    assert states == [] and rows.shape == (0, performer.rig.channels.width)


def test_changed_is_replace(performer: Performer) -> None:
    state = performer.init("sad")
    ours, theirs = replace_state(state, frame=7, look="camera"), replace(state, frame=7, look="camera")
    assert type(ours) is type(theirs) and vars(ours) == vars(theirs) and state.frame == 0
    with pytest.raises(FrozenInstanceError):
        ours.frame = 8  # type: ignore[misc]


def test_interrupting_never_pops(performer: Performer) -> None:
    """A thousand commands at random moments; velocity never changes by more than the clips' own largest change."""
    random, model = np.random.default_rng(0), performer.model
    states = [performer.init(str(random.choice(model.labels)), seed=seed) for seed in range(20)]
    last = np.array([state.features for state in states])
    velocity, told, worst = None, 0, 0.0
    while told < 1000:
        commands = [random_command(random) if random.random() < 0.08 else None for _ in states]
        told += sum(command is not None for command in commands)
        states, _ = performer.step_all(states, commands)
        now = np.array([state.features for state in states])
        faster = (now - last) * RATE
        if velocity is not None:
            worst = max(worst, float(model.difference(faster, velocity).max()))
        last, velocity = now, faster
    assert worst <= fastest_change(performer), f"{worst} of {fastest_change(performer)}"


def test_every_label_is_reached_from_anywhere(performer: Performer) -> None:
    random, model = np.random.default_rng(1), performer.model
    for goal in model.labels:
        for start in model.labels:
            pose = f"{start}@{random.uniform(0, 1):.2f}"
            state, _, _ = played(performer, performer.init(pose=pose), Transition(goal), 200)
            assert state.label == goal
            assert performer.is_done(state)


def test_move_arrives(performer: Performer) -> None:
    for path in ("graph", "straight"):
        target = performer.planner.latent("happy", "happy@1.5")
        start = performer.init("happy", "happy@0")
        state, _ = performer.step(start, GoTo("happy@1.5", seconds=1.0, path=path))
        while not performer.is_done(state):
            state, _ = performer.step(state)
        assert 24 <= state.frame < 72  # longer than asked for, where that would have been a pop
        radius = performer.planner.runtimes["happy"].forces.radius
        assert np.linalg.norm(state.main_source.x - target) <= 1.05 * radius


def test_a_move_takes_as_long_as_it_is_told(performer: Performer) -> None:
    state, _ = performer.step(performer.init("happy", "happy@0"), GoTo("sad@2", seconds=2.0))
    frames = 1
    while not performer.is_done(state):
        state, _ = performer.step(state)
        frames += 1
    assert frames == 48
    assert state.label == "sad"


def test_play_shows_the_clip_as_it_was_made(performer: Performer) -> None:
    space = performer.model.spaces["sad"]
    segment = space.segments[0]
    state, features, _ = played(performer, performer.init("sad", "sad@0"), PlayClip("sad"), 200)
    own = space.features[segment.start : segment.stop].astype(float)
    learned = performer.model.encoder.learned
    # the blend into the clip is over after a second and a half, whenever the clip began
    shown = [np.flatnonzero(np.abs(features - frame)[:, learned].max(axis=1) < 1e-6) for frame in own[40:]]
    assert all(len(found) for found in shown)
    first = [int(found[0]) for found in shown]
    assert np.all(np.diff(first) == 1), "the frames follow each other as they do in the clip"
    assert isinstance(state.label, str)


def test_idles_stay_within_their_radius(performer: Performer) -> None:
    centre, radius = performer.init("happy", "happy@2").main_source.x, performer.planner.runtimes["happy"].hover_radius
    states = [performer.init("happy", "happy@2", seed=seed) for seed in range(50)]
    furthest, places = 0.0, []
    for _ in range(240):
        states, _ = performer.step_all(states)
        x = np.array([state.main_source.x for state in states])
        furthest = max(furthest, float(np.linalg.norm(x - centre, axis=1).max()))
        places.append(x)
    assert furthest <= 1.05 * radius
    assert np.array(places)[-1].std(axis=0).max() > 0.05 * radius, "they differ"


def test_wandering_visits_every_pose(performer: Performer) -> None:
    poses = ("sad@0.5", "sad@2", "sad@4")
    points = [performer.planner.latent("sad", pose) for pose in poses]
    radius = performer.planner.runtimes["sad"].forces.radius
    state, seen = performer.init("sad"), set()
    command: Command | None = Idle(poses, hover=0.2)
    for _ in range(24 * 40):
        state, _ = performer.step(state, command)
        command = None
        seen |= {i for i, point in enumerate(points) if np.linalg.norm(state.main_source.x - point) <= 1.1 * radius}
    assert seen == {0, 1, 2}


def test_stillness_holds_still(performer: Performer) -> None:
    state, _, _ = played(performer, performer.init("happy"), Idle(stillness=1.0), 60)
    _, features, rows = played(performer, state, None, 48)
    assert np.array_equal(features, np.tile(features[0], (48, 1)))
    assert np.array_equal(rows, np.tile(rows[0], (48, 1)))


def test_liveliness_moves_more(performer: Performer) -> None:
    def moved(liveliness: float) -> float:
        _, features, _ = played(performer, performer.init("happy", seed=4), Idle(liveliness=liveliness), 240)
        return float(performer.model.difference(features[1:], features[:-1]).sum())

    assert moved(0.0) < 0.5 * moved(1.0) < 0.5 * moved(2.5)


def test_a_mix_is_between_its_labels(performer: Performer) -> None:
    model = performer.model
    poses = ("sad@3", "happy@2")
    ends = [model.spaces[p.partition("@")[0]].features_of(performer.planner.latent(p[:-2], p)[None])[0] for p in poses]
    state, _, _ = played(performer, performer.init("sad", "sad@3"), Mix(("sad", "happy"), 0.5, poses, stillness=1), 90)
    assert len(state.sources) == 2
    middle = (ends[0] + ends[1]) / 2
    assert model.difference(state.features, middle) < 0.5 * model.difference(*ends)
    state, _, _ = played(performer, state, Transition("happy"), 60)
    assert [voice.label for voice in state.sources] == ["happy"]


def test_the_gaze_runs_beside(performer: Performer) -> None:
    state, _, _ = played(performer, performer.init("sad"), Transition("happy"), 4)
    legs = state.main_source.plan
    state = performer.command(state, LookAt("camera", seconds=0.5))
    assert state.main_source.plan is legs
    assert state.look == "camera"


def test_at_another_rate_the_same_time_passes() -> None:
    fast = Performer(lamp_model(), lamp_rig(), 60.0, layers=False)
    state, _ = fast.step(fast.init("happy", "happy@0"), GoTo("happy@2", seconds=1.5))
    for _ in range(89):
        assert not fast.is_done(state)
        state, _ = fast.step(state)
    assert fast.is_done(state)


def test_nothing_glides_while_it_is_held(performer: Performer) -> None:
    """A pose from the middle of a hop is held where it is."""
    state, _, _ = played(performer, performer.init("hop", "hop@1"), Idle(), 24 * 60)
    assert abs(state.ground.x) + abs(state.ground.z) < 0.1  # metres, in a minute; the hop goes 1 m in 2 s


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (GoTo("nowhere"), "there is no pose 'nowhere'"),
        (GoTo("glad@1"), "there is no clip 'glad'"),
        (GoTo("sad@500"), "but its pose at 500 s is asked for"),
        (Transition("glad"), "there is no label 'glad'; available: 'hop'"),
        (PlayClip("glad"), "there is no clip 'glad'"),
        (PlayClip("sad", start=1.0, stop=900.0), "but 1 to 900 s is asked for"),
        (Mix(("sad", "glad"), 0.5), "there is no label 'glad'"),
    ],
)
def test_what_cannot_be_done(performer: Performer, command: Command, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        performer.step(performer.init(), command)


def test_events_tell_what_happened(performer: Performer) -> None:
    state = performer.init("hop")
    found = []
    command: Command | None = Transition("sad")
    for _ in range(120):
        state, _ = performer.step(state, command)
        command = None
        found += [(event.what, event.label) for event in state.event]
    assert found[0] == ("transition", "hop")
    assert ("enter", "sad") in found, "a change enters its label directly"
    assert replace(state, event=()).event == ()
