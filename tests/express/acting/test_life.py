from __future__ import annotations

import numpy as np
import pytest

from understudy.express.acting import act, life
from understudy.express.acting.cues import Cue
from understudy.express.graph.expression_graph import ExpressionGraph

RATE = 60.0


def lived(label: str, seed: int, amount: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cue = [Cue((label,), (1.0,))]
    peaks, bounds = np.array([60]), np.array([0, 90, 180])
    return life.head_and_gaze(cue, peaks, bounds, 181, RATE, amount, np.random.default_rng(seed))


def test_a_blink_is_quick_and_whole() -> None:
    blinks = np.concatenate([lived("anger", seed)[0] for seed in range(20)])
    assert blinks.min() == 0.0 and blinks.max() > 0.95
    closed = np.flatnonzero(np.diff((blinks > 0.02).astype(int)) == 1)
    opened = np.flatnonzero(np.diff((blinks > 0.02).astype(int)) == -1)
    lasts = (opened - closed[: len(opened)]) / RATE
    assert len(lasts) > 10 and lasts.max() < 0.35 and lasts.min() > 0.15


def test_wide_eyes_do_not_blink_at_their_widest() -> None:
    assert max(lived("surprise", seed)[0][50:75].max() for seed in range(40)) == 0.0


def test_no_blink_hides_an_apex() -> None:
    blinks = [lived("happiness", seed)[0] for seed in range(40)]
    assert max(blink[57:69].max() for blink in blinks) == 0.0 and max(blink.max() for blink in blinks) > 0.9


def test_eyes_jump_by_the_main_sequence_and_hold() -> None:
    gaze = np.degrees(lived("sadness", 3)[1])
    speed = np.linalg.norm(np.diff(gaze, axis=0), axis=1) * RATE
    assert np.quantile(speed, 0.5) < 15.0 and 80.0 < speed.max() < 700.0


def test_the_head_arrives_after_the_face() -> None:
    for seed in range(5):
        nod = lived("sadness", seed)[2][:, 1]
        at = int(np.argmax(nod > 0.9 * nod[60:80].max()))
        assert 45 <= at <= 75


def test_turns_go_to_either_side() -> None:
    turns = [lived("disgust", seed)[2][70, 0] for seed in range(30)]
    assert min(turns) < -0.05 and max(turns) > 0.05


def test_no_life_is_still(graph: ExpressionGraph) -> None:
    done = act(graph, ["fear"], life=0.0)
    assert not done.blink.any() and not done.gaze.any() and not done.head.any()


@pytest.mark.parametrize("amount", [0.3, 1.0, 2.0])
def test_nothing_turns_too_far(amount: float) -> None:
    for seed in range(10):
        blink, gaze, head = lived("fear", seed, amount)
        assert np.degrees(np.abs(head)).max() < 35 and np.degrees(np.abs(gaze)).max() < 75
        assert blink.max() <= 1.0
