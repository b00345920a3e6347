"""A script that is performed live: it begins from whatever the character does just then.

Where a script says in which label or pose it begins, the character goes there first, and the script's clock starts when
it has arrived. A rate in the script is for files; live it is performed at the rate of the stage.
"""

from __future__ import annotations

from understudy.live.commands import Command, Look, Transition
from understudy.live.schedule import Schedule
from understudy.live.script import Script
from understudy.live.script_sets import Cue, cues


class RunningScript:
    """The clock of one script. `place` is the step that fell last, as the script's errors write it (`do 3`)."""

    def __init__(self, script: Script, seed: int, rate: float) -> None:
        self.script, self.rate = script, rate
        self.place = ""
        self.began: int | None = None
        self._schedule = Schedule(cues(script, seed))
        self._until = 0  # frame before which a timed look is not over

    @property
    def skipped(self) -> tuple[str, ...]:
        """Places of steps that had no turn."""
        return self._schedule.skipped

    def beginning(self, label: str) -> Command | None:
        """What takes the character to where the script begins; None where it may begin at once."""
        script = self.script
        if script.pose is None and script.label in (None, label):
            return None
        return Transition(script.label or label, script.pose)

    def seconds(self, frame: int) -> float:
        """The script's own time; 0 before it has begun."""
        return 0.0 if self.began is None else (frame - self.began) / self.rate

    def due(self, frame: int, done: bool, label: str) -> tuple[Cue | Command, ...]:
        """What falls into a frame, in order: a way to the beginning, or cues of the script."""
        if self.began is None:
            way = None if self.place else self.beginning(label)
            if way is not None:
                self.place = "beginning"
                return (way,)
            if self.place and not done:
                return ()
            self.began, done = frame, True  # the first step interrupts whatever runs
        self._schedule, fallen = self._schedule.due(self.seconds(frame), not done)
        for cue in fallen:
            self.place = cue.step.place
            if isinstance(cue.step.action, Look):
                self._until = max(self._until, frame + round((cue.step.action.seconds or 0.0) * self.rate))
        return fallen

    def over(self, frame: int, done: bool) -> bool:
        """Whether all of it has been performed."""
        if self.began is None:
            return False
        if self.script.seconds is not None:
            return self.seconds(frame) >= self.script.seconds
        return self._schedule.finished and done and frame > self.began and frame >= self._until
