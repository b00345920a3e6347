"""The dragon's model, as the package ships it: its own clips, small, sound, and alive at once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import understudy as us
from understudy import cast, storage
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.perform.layers.eye_drives import CLOSED_EYE_RATIO, lids_of
from understudy.perform.layers.eyes import lid_columns, open_and_frontal
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.label_runtime import calm_speed
from understudy.perform.training import HOME_FRONT_QUANTILE, HOME_FRONT_RAD

MAX_BYTES = 2_000_000
SEEDS, SECONDS = 4, 7.0
LABELS = ("happy", "grumpy", "bored", "curious", "neutral", "roar", "head shake", "surprise")
REMAKE = "the model is of other clips; `make dragon-model` learns it again"


@cache
def model() -> us.PoseModel:
    return us.PoseModel.load("dragon")


@cache
def idles(label: str) -> Array:
    """(F, SEEDS, C) idles of a label without layers, from the second second on."""
    performer = us.Performer(model(), layers=False, prepared=False)
    states, rows = [performer.init(label, seed=seed) for seed in range(SEEDS)], []
    for _ in range(round(SECONDS * performer.rate)):
        states, poses = performer.step_all(states)
        rows.append(poses)
    return np.array(rows[round(performer.rate) :])


def speeds(rows: Array) -> Array:
    """(F - 1,) millimetres a second, root mean square over every 29th vertex of rows (F, C)."""
    blocks = [model().rig.vertices(rows[i : i + 64])[:, ::29] for i in range(0, len(rows), 64)]
    steps = np.diff(np.concatenate(blocks).astype(np.float64), axis=0)
    return np.sqrt(np.square(steps).sum(axis=-1).mean(axis=-1)) * model().model_.rate * 1e3


def test_it_is_small_and_of_these_clips() -> None:
    assert cast.model_file("dragon").stat().st_size < MAX_BYTES
    library, learned = ClipLibrary.from_asset(cast.load("dragon")), model().model_
    assert learned.labels == library.labels == LABELS and learned.cast == "dragon", REMAKE
    for take in library.takes[::6]:
        segment = learned.space(take.label).segment(take.clip)
        assert segment is not None and len(segment) == len(take.rows), REMAKE
        features = learned.space(take.label).features
        step = np.ptp(features, axis=0).astype(float) / storage.PACKED_STEPS
        error = np.abs(learned.encoder.encode(take.rows) - features[segment.start : segment.stop])
        assert (error <= 0.51 * step + 1e-6).all(), REMAKE


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_byte_is_told_in_one_sentence_or_does_no_harm(seed: int, tmp_path: Path) -> None:
    rng, data = np.random.default_rng(seed), bytearray(cast.model_file("dragon").read_bytes())
    for place in rng.integers(len(data), size=1 + seed % 3):
        data[place] ^= int(rng.integers(1, 256))
    damaged = tmp_path / "dragon.understudy"
    damaged.write_bytes(data)
    try:
        other = PerformanceModel.load(damaged)
    except BadFile as error:
        assert "\n" not in str(error) and "dragon.understudy" in str(error)
    else:  # a byte of the zip that says nothing, such as a date
        for label, space in model().model_.spaces.items():
            assert np.array_equal(other.spaces[label].features, space.features)


def test_it_performs_and_the_same_seed_is_the_same_idle() -> None:
    performer = us.Performer(model(), prepared=False)
    takes = []
    for seed in (3, 3, 4):
        state = performer.init("neutral", seed=seed)
        rows = []
        for frame in range(48):
            state, row = performer.step(state, us.Transition("happy") if frame == 12 else None)
            rows.append(row)
        takes.append(np.array(rows))
    assert np.isfinite(takes[0]).all() and np.array_equal(takes[0], takes[1]) and not np.array_equal(*takes[1:])


@pytest.mark.parametrize("label", LABELS)
def test_an_idle_is_as_fast_as_the_calm_quarter_of_the_clips(label: str) -> None:
    space, encoder = model().model_.space(label), model().model_.encoder
    clips = [speeds(encoder.decode(space.features[s.start : s.stop])) for s in space.segments]
    shown = np.mean([speeds(idles(label)[:, seed]).mean() for seed in range(SEEDS)])
    assert 0.7 < shown / calm_speed(np.concatenate(clips)) < 1.4


@pytest.mark.parametrize("label", LABELS)
def test_idles_keep_their_eyes_open(label: str) -> None:
    rows = idles(label).reshape(-1, idles(label).shape[-1])
    closures = np.min([lid.closures(rows) for lid in lids_of(model().rig)], axis=0)
    assert closures.max() <= CLOSED_EYE_RATIO and np.ptp(closures) < 0.2  # blinks shut them, nothing else


def test_moods_keep_their_own_lids() -> None:
    closed = {label: np.median([lid.closures(idles(label)[:, 0]) for lid in lids_of(model().rig)]) for label in LABELS}
    assert closed["bored"] > closed["neutral"] + 0.15 and closed["grumpy"] > closed["curious"] + 0.1
    assert closed["surprise"] < 0.05 and closed["curious"] < 0.05


@pytest.mark.parametrize("label", LABELS)
def test_homes_have_open_eyes_and_face_the_front(label: str) -> None:
    space, encoder = model().model_.space(label), model().model_.encoder
    is_open, turned = open_and_frontal(model().rig, encoder.place(space.features, np.zeros((len(space), 3))))
    assert is_open[space.home]
    assert turned[space.home] <= max(HOME_FRONT_RAD, np.quantile(turned, 2 * HOME_FRONT_QUANTILE))


def test_a_clip_is_played_with_its_own_lids() -> None:
    columns = [model().rig.channels.names.index(name) for name in lid_columns(model().rig)]
    library = ClipLibrary.from_asset(cast.load("dragon"))
    take = next(take for take in library.takes if take.clip == "happy_laugh")
    performer = us.Performer(model(), layers=False, prepared=False)
    state = performer.init("happy")
    state, row = performer.step(state, us.PlayClip("happy_laugh"))
    rows = [row]
    while not performer.is_done(state):
        state, row = performer.step(state)
        rows.append(row)
    last = take.rows[len(take.rows) // 2 :, columns]
    gaps = np.abs(np.array(rows)[:, None, columns] - last[None]).max(axis=-1)
    assert gaps.min(axis=0).max() < 0.02 * np.ptp(take.rows[:, columns])
