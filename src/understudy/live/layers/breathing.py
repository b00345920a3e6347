"""Breathing: slow, never twice the same, deeper and faster in a lively character.

Each breath has its own length and depth. Air comes in for two fifths of it, goes out more slowly, and rests a moment:

    b(x) = smooth(x / 0.4),   then   1 - smooth((x - 0.4) / 0.45),   then   0 to the end

b and its slope are zero where one breath ends and the next begins, so lengths and depths may change there.

A rig with a control for it (`neck.breath`) is moved by that and by its nostrils, a body with a spine by a small turn of
the chest with the neck turning back, so that the head stays level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from understudy.checks import Array
from understudy.live.layers import chance
from understudy.live.layers.breath_drives import BreathDrive, breath_drive
from understudy.live.layers.layer import Moment
from understudy.live.layers.saccade import smooth
from understudy.rig import PosedRig

LENGTH = (3.9, 0.13)  # seconds of a breath: median, deviation of the logarithm; people at rest take 12 to 18 a minute
DEPTH = (1.0, 0.18)
INHALE, EXHALE = 0.4, 0.45  # of a breath
EASE = 1.5  # seconds in which the depth follows the dials
FASTEST, SLOWEST = 2.0, 0.7  # how much a dial changes the pace


class BreathState(NamedTuple):
    """How far the breath under way is, and how deep."""

    seed: int
    draws: int = 0
    started: bool = False
    phase: float = 0.0  # 0 to 1
    length: float = 1.0  # seconds
    depth: float = 1.0
    amount: float = 0.0  # how much of it shows: 0 none


@dataclass(frozen=True, eq=False)
class Breathing:
    """A layer that breathes."""

    drive: BreathDrive

    @classmethod
    def of(cls, rig: PosedRig) -> Breathing | None:
        """The breath of a rig's character; None where nothing can show it."""
        drive = breath_drive(rig)
        return None if drive is None else cls(drive)

    def init(self, seed: int) -> BreathState:
        """The state before the first frame."""
        seed = chance.stream(seed, "breathing")
        # in the middle of a breath: a crowd that starts together does not breathe together
        return BreathState(seed, 3, False, chance.uniform(seed, 0), *_breath(seed, 1))

    def step(self, state: BreathState, row: Array, moment: Moment) -> tuple[BreathState, Array]:
        """The next state, and the row (C,) with the breath on top."""
        after = _next(state, moment)
        if after.amount == 0.0:
            return after, row
        row = row[None].copy()
        self.drive.add_all(row, *([each] for each in _shown(after)))
        return after, row[0]

    def step_all(self, states: Sequence[BreathState], rows: Array, moments: Sequence[Moment]) -> list[BreathState]:
        """`step` of many, over their rows (M, C) in place."""
        after = [_next(state, moment) for state, moment in zip(states, moments)]
        if after:
            self.drive.add_all(rows, *zip(*map(_shown, after)))
        return after


def _next(state: BreathState, moment: Moment) -> BreathState:
    """The state a frame on."""
    goal = 0.0 if moment.played else min(moment.life, 2.0) ** 0.5
    if state.started:
        most = moment.dt / EASE
        amount = min(max(goal, state.amount - most), state.amount + most)
    else:
        amount = goal
    pace = min(max(0.6 + 0.4 * moment.liveliness, SLOWEST), FASTEST)
    phase = state.phase + (moment.dt * pace / state.length if state.started else 0.0)
    draws, length, depth = state.draws, state.length, state.depth
    if phase >= 1.0:
        phase -= int(phase)
        length, depth = _breath(state.seed, draws)
        draws += 2
    return BreathState(state.seed, draws, True, phase, length, depth, amount)


def _shown(state: BreathState) -> tuple[float, float]:
    """How full the lungs look, and how fast they fill."""
    much = state.amount * state.depth
    return much * air(state.phase), much * flow(state.phase)


def _breath(seed: int, draw: int) -> tuple[float, float]:
    return chance.log_normal(seed, draw, *LENGTH), chance.log_normal(seed, draw + 1, *DEPTH)


def air(phase: float) -> float:
    """How full the lungs are at a phase of the breath, 0 to 1."""
    if phase < INHALE:
        return smooth(phase / INHALE)
    return 1.0 - smooth((phase - INHALE) / EXHALE)


def flow(phase: float) -> float:
    """How fast air comes in, 0 to 1: nostrils widen before the chest is full, and close on the way out."""
    x = phase / INHALE
    return 16.0 * x * x * (1.0 - x) * (1.0 - x) if x < 1.0 else 0.0
