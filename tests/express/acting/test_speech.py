from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.acting.speech import (
    MIN_ACCENT_INTERVAL_SECONDS,
    SHAPES_BY_GROUP,
    Viseme,
    accent_curve,
    add_speech,
    choose_accents,
    dominances,
)
from understudy.formats.arkit_names import SHAPE_NAMES, VISEMES

RATE = 60.0
SOUNDS = [(0.4, "aa"), (0.6, "PP"), (0.7, "ih"), (0.9, "oh"), (1.1, "SS"), (1.2, "sil")]


def laugh(frames: int = 120) -> dict[str, np.ndarray]:
    weights = {"mouthSmileLeft": 0.9, "mouthSmileRight": 0.9, "jawOpen": 0.7, "mouthUpperUpLeft": 0.4, "cheekPuff": 0.2}
    return {name: np.full(frames, weight) for name, weight in weights.items()}


def at(seconds: float) -> int:
    return round(seconds * RATE)


def test_groups_and_visemes_are_arkit_weights() -> None:
    named = [name for names in SHAPES_BY_GROUP.values() for name in names]
    assert len(set(named)) == len(named) and set(named) <= set(SHAPE_NAMES)
    for shapes in VISEMES.values():
        assert set(shapes) <= set(named) and all(0 < weight <= 1 for weight in shapes.values())


def test_a_closure_wins_against_the_widest_laugh_and_its_neighbours() -> None:
    said = add_speech(laugh(), SOUNDS, RATE).shapes
    assert said["jawOpen"][at(0.65)] < 0.02 and said["mouthUpperUpLeft"][at(0.65)] < 0.02
    assert said["mouthPressLeft"][at(0.65)] > 0.95 * VISEMES["PP"]["mouthPressLeft"]


@pytest.mark.parametrize("length", [0.02, 0.05, 0.12])
@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0])
def test_some_frame_of_every_closure_is_closed(length: float, rate: float) -> None:
    """A p may be shorter than a frame."""
    for start in np.linspace(0.5, 0.55, 7):
        sounds = [(start - 0.1, "aa"), (start, "PP"), (start + length, "aa"), (start + length + 0.2, "sil")]
        said = add_speech({"jawOpen": np.full(40, 1.0)}, sounds, rate).shapes["jawOpen"]
        middle = start + length / 2
        near = np.abs(np.arange(40) / rate - middle) <= max(length, 1.0 / rate) / 2 + 1e-9
        assert said[near].min() < 0.03


def test_a_smile_survives_a_b_and_not_an_o() -> None:
    said = add_speech(laugh(), SOUNDS, RATE).shapes["mouthSmileLeft"] / 0.9
    assert said[at(0.65)] > 0.75 and said[at(1.15)] > 0.6
    assert said[at(1.0)] < 0.5


def test_silence_gives_the_mouth_back_and_other_shapes_stay() -> None:
    said = add_speech(laugh(), SOUNDS, RATE).shapes
    for name, weights in laugh().items():
        assert np.allclose(said[name][: at(0.15)], weights[0], atol=0.01)
        assert np.allclose(said[name][at(1.5) :], weights[0], atol=0.01)
    assert np.array_equal(said["cheekPuff"], laugh()["cheekPuff"])


def test_a_vowel_beside_a_closure_still_opens() -> None:
    sounds = [(0.3, "FF"), (0.38, "aa"), (0.53, "PP"), (0.6, "sil")]
    said = add_speech({"jawOpen": np.zeros(60)}, sounds, RATE).shapes["jawOpen"]
    assert said[at(0.45)] > 0.7 * VISEMES["aa"]["jawOpen"]


def test_neighbours_colour_a_sound() -> None:
    """Coarticulation: the same vowel is rounder between rounded sounds."""
    rounded, plain = (
        add_speech({"jawOpen": np.zeros(120)}, [(0.4, o), (0.5, "ih"), (0.6, o), (0.7, "sil")], RATE).shapes
        for o in ("ou", "SS")
    )
    assert rounded["mouthPucker"][at(0.55)] > 0.05 > plain.get("mouthPucker", np.zeros(120))[at(0.55)]


def test_nothing_jumps() -> None:
    said = add_speech(laugh(2000), SOUNDS, 1000.0).shapes
    assert max(np.abs(np.diff(values)).max() for values in said.values()) < 0.05


def test_the_priority_of_speech() -> None:
    none = add_speech(laugh(), SOUNDS, RATE, priority=0.0)
    assert none.shapes == none.expression and not none.visemes
    whole = add_speech(laugh(), [(0.4, "aa"), (0.6, "sil")], RATE, priority=1.0).shapes
    assert whole["jawOpen"][at(0.5)] == pytest.approx(VISEMES["aa"]["jawOpen"], abs=0.02)


def test_visemes_for_faces_that_have_them() -> None:
    spoken = add_speech(laugh(), SOUNDS, RATE)
    assert spoken.visemes["viseme_aa"][at(0.5)] > 0.6 and spoken.visemes["viseme_PP"][at(0.65)] > 0.4
    assert spoken.expression["jawOpen"][at(0.65)] < 0.05 and spoken.expression["jawOpen"][0] == pytest.approx(
        0.7, abs=0.01
    )
    assert all(v.min() >= 0.0 and v.max() <= 1.0 for v in spoken.visemes.values())


def test_silence_claims_nothing() -> None:
    claims = dominances([Viseme(0.0, "sil"), Viseme(0.5, "aa")], np.arange(60) / RATE, RATE)
    assert not claims[0].any() and claims[1].max() == 1.0


def test_accents_are_the_most_prominent_and_not_too_near() -> None:
    chosen = choose_accents([(0.1, 1.0), (0.3, 5.0), (1.0, 2.0), (1.3, 1.0), (2.5, 0.1)])
    assert chosen == (0.3, 1.3, 2.5)
    assert np.diff(chosen).min() >= MIN_ACCENT_INTERVAL_SECONDS
    curve = accent_curve(chosen, np.arange(0, 3, 0.01))
    assert curve[30] == pytest.approx(1.0) and curve.min() == 0.0
    brows = add_speech(laugh(), [(0.1, "aa")], RATE, accents=chosen).shapes["browInnerUp"]
    assert brows[at(0.3)] > 0.2


def test_what_cannot_be_said_is_told() -> None:
    with pytest.raises(InvalidInput, match="no viseme 'zz'; available: 'sil', 'PP'"):
        add_speech(laugh(), [(0.0, "zz")], RATE)
    with pytest.raises(InvalidInput, match="priority"):
        add_speech(laugh(), SOUNDS, RATE, priority=2.0)
