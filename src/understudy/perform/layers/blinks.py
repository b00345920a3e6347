"""Blinks: now and then, never in time, and with a large jump of the eyes.

The lid falls fast and rises slowly. A blink starts from wherever the lids are and never opens an eye; eyes that the
pose has shut do not blink, and a clip that is played as it is blinks by itself.
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
from understudy.perform.layers.eye_drives import Angles, EyelidDrive, lids_of, read_all
from understudy.perform.layers.eyes import Eyes
from understudy.perform.layers.gaze import minimum_jerk
from understudy.perform.layers.layer import LayerContext

BLINK_INTERVAL_SECONDS = (
    3.9,
    0.65,
)  # seconds from blink to blink: median, deviation of the logarithm; people blink 15 times a minute
MIN_BLINK_INTERVAL_SECONDS = 0.45  # seconds
LID_CLOSING_SECONDS = (0.085, 0.15)  # seconds, the same two
LID_OPENING_SECONDS = (0.22, 0.2)
LID_SHUT_SECONDS = 0.02  # seconds, and at least one frame: a blink that is never seen shut is a flicker
DOUBLE_BLINK_PROBABILITY = 0.13  # of the blinks are followed by another
CLOSED_EYE_RATIO = 0.55  # eyes that the pose has shut so far do not blink
BLINK_SACCADE_RAD = radians(14)  # a jump of the eyes that a blink goes with
BLINK_WITH_SACCADE_PROBABILITY = 0.65  # of such jumps
BLINK_REFRACTORY_SECONDS = (
    1.0  # seconds after a blink in which no jump brings another: eyes that look around a lot would flutter
)
SACCADE_MEMORY_SECONDS = 0.05  # seconds over which a jump is added up


class BlinkState(NamedTuple):
    """The blink that is under way or was the last, and when the next comes."""

    seed: int
    draws: int = 0
    started: bool = False
    next: float = 0.0
    since: float = -1e9  # when the last began
    falling: float = 0.1
    shut: float = 0.0
    rising: float = 0.1
    gaze: tuple[float, float] = (0.0, 0.0)
    moved: float = 0.0  # radians that the eyes jumped just now
    shut_at: float = -1e9  # when the performance itself had the eyes shut last

    def amount(self, time: float) -> float:
        """How far the lids are at a time: 0 open, 1 shut."""
        age = time - self.since
        if age < self.falling:
            return minimum_jerk(age / self.falling)
        age -= self.falling + self.shut
        if age >= self.rising:
            return 0.0
        # quick at first and then ever slower, as a lid opens
        return 1.0 if age <= 0.0 else 1.0 - minimum_jerk((age / self.rising) ** 0.75)

    @property
    def end_time(self) -> float:
        """When the last blink ends."""
        return self.since + self.falling + self.shut + self.rising


@dataclass(frozen=True, eq=False)
class Blinks:
    """A layer that shuts the lids for a moment."""

    lids: tuple[EyelidDrive, ...]
    eyes: Eyes | None = None  # whose jumps are blinked at

    @classmethod
    def from_rig(cls, rig: PosedRig) -> Blinks | None:
        """The blinks of a rig's character; None where nothing shuts its eyes."""
        lids = lids_of(rig)
        return cls(lids, Eyes.from_rig(rig)) if lids else None

    def init(self, seed: int) -> BlinkState:
        """The state before the first frame."""
        return BlinkState(layer.derive_seed(seed, "blinks"))

    def step(self, state: BlinkState, row: Array, moment: LayerContext) -> tuple[BlinkState, Array]:
        """The next state, and the row (C,) with its lids as far down as the blink has them, or as they were."""
        held = min(lid.closure(row) for lid in self.lids) > CLOSED_EYE_RATIO
        gaze = None if self.eyes is None else self.eyes.drive.read(row)
        state = self._next(state, gaze, held, moment)
        amount = state.amount(moment.time)
        if amount > 0.0:
            row = row.copy()
            self._shut(row, amount)
        return state, row

    def step_all(self, states: Sequence[BlinkState], rows: Array, moments: Sequence[LayerContext]) -> list[BlinkState]:
        """`step` of many, over their rows (M, C) in place."""
        closed = np.min([lid.closures(rows) for lid in self.lids], axis=0).tolist()
        gazes = [None] * len(rows) if self.eyes is None else read_all(self.eyes.drive, rows)
        after = []
        for m, (state, gaze, shut, moment) in enumerate(zip(states, gazes, closed, moments)):
            state = self._next(state, gaze, shut > CLOSED_EYE_RATIO, moment)
            if moment.time < state.end_time:
                self._shut(rows[m], state.amount(moment.time))
            after.append(state)
        return after

    def _shut(self, row: Array, amount: float) -> None:
        for lid in self.lids:
            lid.shut_to(row, amount)

    def _next(self, state: BlinkState, gaze: Angles | None, held: bool, moment: LayerContext) -> BlinkState:
        """The state a frame on, of eyes that stand like this, shut by the pose itself or not."""
        time, life = moment.time, moment.life
        state = _observe_gaze(state, gaze, moment)
        if not state.started:
            state = state._replace(started=True)
            # in the middle of an interval: a crowd that starts together does not blink together
            state = _postpone_blink(state, time, life, layer.uniform(state.seed, state.draws + 1))
        if held and time >= state.end_time:
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
            elif state.moved > BLINK_SACCADE_RAD:  # let pass, with the rest of the same jump; the next is asked anew
                state = state._replace(draws=state.draws + 1, moved=-2.0 * BLINK_SACCADE_RAD)
        return state


def _observe_gaze(state: BlinkState, gaze: Angles | None, moment: LayerContext) -> BlinkState:
    """The state with what the eyes did since the frame before."""
    if gaze is None:
        return state
    jumped = hypot(gaze[0] - state.gaze[0], gaze[1] - state.gaze[1]) if state.started else 0.0
    return state._replace(gaze=gaze[:2], moved=state.moved * exp(-moment.dt / SACCADE_MEMORY_SECONDS) + jumped)


def _postpone_blink(state: BlinkState, time: float, life: float, share: float = 1.0) -> BlinkState:
    """The state with its next blink put off; a character without life has none."""
    lasts = (
        max(layer.log_normal(state.seed, state.draws, *BLINK_INTERVAL_SECONDS) / life, MIN_BLINK_INTERVAL_SECONDS)
        * share
        if life > 0.0
        else 0.0
    )
    return state._replace(next=time + lasts)


def _begin_blink(state: BlinkState, moment: LayerContext) -> BlinkState:
    """The state with a blink that begins now."""
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
