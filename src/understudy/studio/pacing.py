"""Pacing: even beats by a clock that others share.

    pace.begin()
    while True:
        work(seconds)                        # of the beat that is due
        seconds = pace.next(cost)            # to the next beat
        await asyncio.sleep(pace.wait)

Beats are due at times that follow from each other and not from when the work was done, t[k + 1] = t[k] + T, so what a
sleep oversleeps is no loss: the next one is shorter. A beat that comes late is followed at once by those that were due
meanwhile. Only what is later than `late` is given up: after a pause of the machine nothing has to be run after.
"""

from __future__ import annotations

import time
from collections.abc import Callable

USUAL = 0.05  # how fast what a beat usually costs follows what one did: one slow beat is caught up with, many are not


class Pace:
    """`rate` beats a second, or as few as leave `1 - share` of the time to others."""

    def __init__(self, rate: float, share: float, late: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """`late` are seconds that are caught up with."""
        self._period, self._share, self._late, self._clock = 1 / rate, share, late, clock
        self._usual = 0.0
        self._due = clock()

    def begin(self) -> None:
        """A beat is due now."""
        self._due = self._clock()

    def next(self, cost: float) -> float:
        """Seconds from this beat to the next, after a beat that took `cost` seconds."""
        self._usual += USUAL * (cost - self._usual)
        last, period = self._due, max(self._period, self._usual / self._share)
        self._due = max(last + period, self._clock() - self._late)
        return self._due - last

    @property
    def wait(self) -> float:
        """Seconds until the next beat is due, 0 where it is late."""
        return max(0.0, self._due - self._clock())
