from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.acting.life import VISEMES, add_speech, viseme_weights
from understudy.formats.arkit_names import SHAPE_NAMES

NAMES = ("mouthSmileLeft", "jawOpen", "mouthPressLeft", "browInnerUp")
SOUNDS = [(0.2, "aa"), (0.6, "PP"), (1.0, "sil")]
RATE = 50.0


def smile() -> np.ndarray:
    return np.tile([0.8, 0.3, 0.0, 0.5], (80, 1))


def test_visemes_are_arkit_weights() -> None:
    assert all(name in SHAPE_NAMES and 0 < weight <= 1 for shape in VISEMES.values() for name, weight in shape.items())


def test_sounds_have_priority_over_the_mouth_alone() -> None:
    said = add_speech(smile(), NAMES, SOUNDS, RATE, priority=1.0)
    assert said[20, 1] == pytest.approx(VISEMES["aa"]["jawOpen"], abs=1e-6)  # 0.4 s, in the middle of the vowel
    assert said[40, 1] == pytest.approx(0.0, abs=1e-6)  # the jaw is shut for a p, whatever the smile
    assert said[40, 2] == pytest.approx(VISEMES["PP"]["mouthPressLeft"], abs=1e-6)
    assert np.array_equal(said[:, 3], smile()[:, 3])


def test_silence_gives_the_mouth_back() -> None:
    said = add_speech(smile(), NAMES, SOUNDS, RATE)
    assert np.allclose(said[:5], smile()[:5]) and np.allclose(said[60:], smile()[60:])


def test_no_priority_adds_up() -> None:
    said = add_speech(smile(), NAMES, SOUNDS, RATE, priority=0.0)
    assert said[20, 1] == pytest.approx(min(0.3 + VISEMES["aa"]["jawOpen"], 1.0))


def test_sounds_fade_into_each_other() -> None:
    weights, say = viseme_weights(SOUNDS, np.arange(0.0, 1.5, 0.001))
    assert np.abs(np.diff(weights["jawOpen"])).max() < 0.02
    assert say.min() >= 0.0 and say.max() <= 1.0 + 1e-12


def test_what_cannot_be_said_is_told() -> None:
    with pytest.raises(InvalidInput, match="no viseme 'zz'; available: 'sil', 'PP'"):
        add_speech(smile(), NAMES, [(0.0, "zz")], RATE)
    with pytest.raises(InvalidInput, match="ARKit weights of the mouth"):
        add_speech(smile(), ("a", "b", "c", "d"), SOUNDS, RATE)
    with pytest.raises(InvalidInput, match="priority"):
        add_speech(smile(), NAMES, SOUNDS, RATE, priority=2.0)
