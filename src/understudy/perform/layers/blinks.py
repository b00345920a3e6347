"""Blinks: at random intervals, and together with large saccades.

The lid falls fast and rises slowly. A blink starts from the lids' present position and never opens an eye; eyes that
the pose has shut do not blink, and a clip that is played as it is brings its own blinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, radians
from typing import NamedTuple

import numpy as np

from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.perform.layers import layer
from understudy.perform.layers.eye_drives import CLOSED_EYE_RATIO, Angles, EyelidDrive, lids_of, read_all
from understudy.perform.layers.eyes import Eyes
from understudy.perform.layers.gaze import minimum_jerk
from understudy.perform.layers.layer import LayerContext

# Durations of a log-normal distribution: median in seconds, deviation of the logarithm. People blink 15 times a minute.
BLINK_INTERVAL_SECONDS = (3.9, 0.65)
LID_CLOSING_SECONDS = (0.085, 0.15)
LID_OPENING_SECONDS = (0.22, 0.2)
MIN_BLINK_INTERVAL_SECONDS = 0.45
LID_SHUT_SECONDS = 0.02  # and at least one frame: a blink without a shut frame looks like a flicker
DOUBLE_BLINK_PROBABILITY = 0.13  # that another blink follows at once
BLINK_SACCADE_RAD = radians(14)  # size of a saccade that may bring a blink
BLINK_WITH_SACCADE_PROBABILITY = 0.65  # that it does
BLINK_REFRACTORY_SECONDS = 1.0  # after a blink, in which no saccade brings another: wandering eyes would flutter
SACCADE_MEMORY_SECONDS = 0.05  # time constant over which the parts of a saccade are added up


class BlinkState(NamedTuple):
    """The current or last blink, and the time of the next."""

    seed: int
    draws: int = 0
    started: bool = False
    next: float = 0.0  # seconds, start of the next blink
    since: float = -1e9  # seconds, start of the last
    falling: float = 0.1
    shut: float = 0.0
    rising: float = 0.1
    gaze: tuple[float, float] = (0.0, 0.0)
    moved: float = 0.0  # radians that the eyes turned just now
    shut_at: float = -1e9  # seconds, when the performance last had the eyes shut

    def amount(self, time: float) -> float:
        """Closure by the blink at a time: 0 open, 1 shut."""
        age = time - self.since
        if age < self.falling:
            return minimum_jerk(age / self.falling)
        age -= self.falling + self.shut
        if age >= self.rising:
            return 0.0
        # a lid opens fast at first, then ever slower
        return 1.0 if age <= 0.0 else 1.0 - minimum_jerk((age / self.rising) ** 0.75)

    @property
    def end_time(self) -> float:
        """When the last blink ends."""
        return self.since + self.falling + self.shut + self.rising


@dataclass(frozen=True, eq=False)
class Blinks:
    """A layer that shuts the lids for a moment."""

    lids: tuple[EyelidDrive, ...]
    eyes: Eyes | None = None  # whose saccades may bring a blink

    @classmethod
    def from_rig(cls, rig: PosedRig) -> Blinks | None:
        """The blinks of a rig's character; None where nothing closes its lids."""
        lids = lids_of(rig)
        return cls(lids, Eyes.from_rig(rig)) if lids else None

    def init(self, seed: int) -> BlinkState:
        """The state before the first frame."""
        return BlinkState(layer.derive_seed(seed, "blinks"))

    def step(self, state: BlinkState, row: Array, moment: LayerContext) -> tuple[BlinkState, Array]:
        """The next state, and the row (C,) with its lids closed at least as far as the blink has them."""
        closed = min(lid.closure(row) for lid in self.lids) > CLOSED_EYE_RATIO
        gaze = None if self.eyes is None else self.eyes.drive.read(row)
        state = self._next_state(state, gaze, closed, moment)
        amount = state.amount(moment.time)
        if amount > 0.0:
            row = row.copy()
            self._shut_lids(row, amount)
        return state, row

    def step_all(self, states: Sequence[BlinkState], rows: Array, moments: Sequence[LayerContext]) -> list[BlinkState]:
        """`step` of many characters; their rows (M, C) are changed in place."""
        closures = np.min([lid.closures(rows) for lid in self.lids], axis=0).tolist()
        gazes = [None] * len(rows) if self.eyes is None else read_all(self.eyes.drive, rows)
        after = []
        for m, (state, gaze, closure, moment) in enumerate(zip(states, gazes, closures, moments)):
            state = self._next_state(state, gaze, closure > CLOSED_EYE_RATIO, moment)
            if moment.time < state.end_time:
                self._shut_lids(rows[m], state.amount(moment.time))
            after.append(state)
        return after

    def _shut_lids(self, row: Array, amount: float) -> None:
        for lid in self.lids:
            lid.shut_to(row, amount)

    def _next_state(self, state: BlinkState, gaze: Angles | None, closed: bool, moment: LayerContext) -> BlinkState:
        """The next state, for eyes at `gaze`; `closed` says that the pose has shut them."""
        time, life = moment.time, moment.life
        state = _observe_gaze(state, gaze, moment)
        if not state.started:
            state = state._replace(started=True)
            # in the middle of an interval: a crowd that starts together does not blink together
            state = _postpone_blink(state, time, life, layer.uniform(state.seed, state.draws + 1))
        if closed and time >= state.end_time:
            state = state._replace(shut_at=time)
        if life == 0.0 or moment.played or state.shut_at == time:
            state = _postpone_blink(state, time, life)
        elif time >= state.end_time:
            jumped = (
                state.moved > BLINK_SACCADE_RAD
                and time >= max(state.end_time, state.shut_at) + BLINK_REFRACTORY_SECONDS
            )
            if time >= state.next or (
                jumped and layer.uniform(state.seed, state.draws) < BLINK_WITH_SACCADE_PROBABILITY
            ):
                state = _begin_blink(state, moment)
            elif state.moved > BLINK_SACCADE_RAD:  # no blink for the rest of this saccade; the next draws anew
                state = state._replace(draws=state.draws + 1, moved=-2.0 * BLINK_SACCADE_RAD)
        return state


def _observe_gaze(state: BlinkState, gaze: Angles | None, moment: LayerContext) -> BlinkState:
    """The state with the rotation of the eyes since the frame before."""
    if gaze is None:
        return state
    jumped = hypot(gaze[0] - state.gaze[0], gaze[1] - state.gaze[1]) if state.started else 0.0
    return state._replace(gaze=gaze[:2], moved=state.moved * exp(-moment.dt / SACCADE_MEMORY_SECONDS) + jumped)


def _postpone_blink(state: BlinkState, time: float, life: float, share: float = 1.0) -> BlinkState:
    """The state with a new time for the next blink, `share` of an interval from now."""
    lasts = (
        max(layer.log_normal(state.seed, state.draws, *BLINK_INTERVAL_SECONDS) / life, MIN_BLINK_INTERVAL_SECONDS)
        * share
        if life > 0.0
        else 0.0
    )
    return state._replace(next=time + lasts)


def _begin_blink(state: BlinkState, moment: LayerContext) -> BlinkState:
    """The state at the start of a blink."""
    seed, draw = state.seed, state.draws + 1
    falling = layer.log_normal(seed, draw, *LID_CLOSING_SECONDS)
    rising = layer.log_normal(seed, draw + 1, *LID_OPENING_SECONDS)
    lasts = max(layer.log_normal(seed, draw + 2, *BLINK_INTERVAL_SECONDS) / moment.life, MIN_BLINK_INTERVAL_SECONDS)
    twice = layer.uniform(seed, draw + 3) < DOUBLE_BLINK_PROBABILITY
    begins = moment.time - moment.dt
    over = begins + falling + max(LID_SHUT_SECONDS, moment.dt) + rising
    return state._replace(
        draws=draw + 4,
        next=over + (0.03 if twice else lasts),
        since=begins,
        falling=falling,
        shut=max(LID_SHUT_SECONDS, moment.dt),
        rising=rising,
        moved=0.0,
    )
