"""`LivePerformer`: one character in a game loop, at any frame rate.

The performer makes frames at a fixed rate, so a performance replays exactly whatever the loop's own rate is. Between
two of them the shown pose is interpolated, which delays it by less than one of the performer's frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.perform.commands import Command, LookAt
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformanceEvent, PerformerState

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel
    from understudy.perform.pose_model import PoseModel

LIVE_RATE_HZ = 60.0
MAX_STEP_SECONDS = 0.25  # a longer pause of the loop is dropped rather than caught up with


class LivePerformer:
    """A character that performs live: tell it what to do, and step it by the time that has passed.

    Args:
        model: A fitted `PoseModel`, a `PerformanceModel`, or a `Performer` that several characters share.
        label: The label to begin in; None takes the first of the model.
        rate: Frames a second that the performer makes; it does not have to be that of the loop.
        seed: Seed of everything random.

    Raises:
        InvalidInput: If the label is unknown.
        NotFitted: If the model was not fitted.

    Example:
        >>> lamp = us.LivePerformer(us.load("lamp.understudy"), label="curious")
        >>> lamp.tell(us.Transition("happy", urgency=1))
        >>> row = lamp.step(1 / 50)
        >>> lamp.label, [event.what for event in lamp.events]
        ('happy', ['transition', 'enter'])
    """

    def __init__(
        self,
        model: PoseModel | PerformanceModel | Performer,
        label: str | None = None,
        rate: float = LIVE_RATE_HZ,
        seed: int = 0,
    ) -> None:
        self.performer = model if isinstance(model, Performer) else Performer(model, rate=rate)
        self.state: PerformerState = self.performer.init(label, seed=seed)
        self.events: tuple[PerformanceEvent, ...] = ()  # of the last `step`
        self.state, row = self.performer.step(self.state)
        self._rows = row, row  # (C,) the last two frames
        self._ahead = 0.0  # seconds from the shown moment to the last frame
        self._rotations = self.performer.rig.channels.columns_of("rotation")[::4, None] + np.arange(4)

    @property
    def label(self) -> str:
        """The label that it shows, or is entering."""
        return self.state.label

    @property
    def is_done(self) -> bool:
        """Whether the last command has arrived, or has taken its time."""
        return self.performer.is_done(self.state)

    def tell(self, command: Command) -> None:
        """Give a command; it takes over at once.

        Args:
            command: The command.

        Raises:
            InvalidInput: If the command names what the model does not have.
        """
        self.state = self.performer.command(self.state, command)

    def look_at(self, point: Sequence[float] | str) -> None:
        """Look at a point until told otherwise, beside everything else.

        Args:
            point: Position (3,) in metres in the world, `"camera"` or `"forward"`.

        Raises:
            InvalidInput: If it is neither a position nor a name.
        """
        self.tell(LookAt(point if isinstance(point, str) else tuple(point)))  # type: ignore[arg-type]

    def step(self, dt: float) -> Array:
        """The pose after some time.

        Args:
            dt: Seconds since the last call, of at least 0. `events` are those of this time.

        Returns:
            The pose (C,) of the rig.

        Raises:
            InvalidInput: If `dt` is negative or not finite.
        """
        if not np.isfinite(dt) or dt < 0:
            raise InvalidInput(f"dt should be a time of at least 0 s, but is {dt!r}")
        events: list[PerformanceEvent] = []
        self._ahead -= min(dt, MAX_STEP_SECONDS)
        while self._ahead < -1e-9:
            self.state, row = self.performer.step(self.state)
            self._rows = self._rows[1], row
            self._ahead += 1 / self.performer.rate
            events += self.state.event
        self.events = tuple(events)
        return self._interpolate(1.0 - max(self._ahead, 0.0) * self.performer.rate)

    def _interpolate(self, share: float) -> Array:
        """(C,) the pose between the last two frames."""
        before, after = self._rows
        if share >= 1.0 - 1e-9:
            return after
        row = before + share * (after - before)
        first, second = before[self._rotations], after[self._rotations]
        signs = np.where((first * second).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        mixed = first + share * (signs * second - first)
        row[self._rotations] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
        return np.asarray(row)
