from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.acting.life import VISEMES, add_speech, viseme_weights
from understudy.formats.arkit_names import SHAPE_NAMES

NAMES = ("mouthSmileLeft", "jawOpen", "mouthPressLeft", "browInnerUp")
SOUNDS = [(0.2, "aa"), (0.6, "PP"), (1.0, "sil")]
RATE = 50.0


def smile() -> dict[str, np.ndarray]:
    return {name: np.full(80, weight) for name, weight in zip(NAMES, (0.8, 0.3, 0.0, 0.5))}


def test_visemes_are_arkit_weights() -> None:
    assert all(name in SHAPE_NAMES and 0 < weight <= 1 for shape in VISEMES.values() for name, weight in shape.items())


def test_sounds_have_priority_over_the_mouth_alone() -> None:
    said = add_speech(smile(), SOUNDS, RATE, priority=1.0)
    assert said["jawOpen"][20] == pytest.approx(VISEMES["aa"]["jawOpen"], abs=1e-6)  # 0.4 s, in the middle of the vowel
    assert said["jawOpen"][40] == pytest.approx(0.0, abs=1e-6)  # the jaw is shut for a p, whatever the smile
    assert said["mouthPressLeft"][40] == pytest.approx(VISEMES["PP"]["mouthPressLeft"], abs=1e-6)
    assert np.array_equal(said["browInnerUp"], smile()["browInnerUp"])


def test_silence_gives_the_mouth_back() -> None:
    said = add_speech(smile(), SOUNDS, RATE)
    for name, weights in smile().items():
        assert np.allclose(said[name][:5], weights[:5]) and np.allclose(said[name][60:], weights[60:])


def test_no_priority_adds_up() -> None:
    said = add_speech(smile(), SOUNDS, RATE, priority=0.0)
    assert said["jawOpen"][20] == pytest.approx(min(0.3 + VISEMES["aa"]["jawOpen"], 1.0))


def test_sounds_fade_into_each_other() -> None:
    weights, say = viseme_weights(SOUNDS, np.arange(0.0, 1.5, 0.001))
    assert np.abs(np.diff(weights["jawOpen"])).max() < 0.02
    assert say.min() >= 0.0 and say.max() <= 1.0 + 1e-12


def test_what_cannot_be_said_is_told() -> None:
    with pytest.raises(InvalidInput, match="no viseme 'zz'; available: 'sil', 'PP'"):
        add_speech(smile(), [(0.0, "zz")], RATE)
    with pytest.raises(InvalidInput, match="priority"):
        add_speech(smile(), SOUNDS, RATE, priority=2.0)
