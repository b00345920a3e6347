"""Scripts in the perform mode: run live, and checked in the editor.

A script starts from the character's current state. If it gives an initial label or pose, the character goes there
first, and the script's clock starts on arrival. The script's rate is for files; live it runs at the rate of the stage.
The check returns the first error as one sentence with its line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from understudy.errors import BadFile, InvalidInput
from understudy.perform.commands import Command, LookAt, Transition
from understudy.perform.script import Script, ScriptStep, parse_script
from understudy.perform.script_run import Schedule, ScheduledStep, schedule_steps
from understudy.studio.messages.perform import ScriptCheck

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel

STEP_PATTERN = re.compile(r"^\s*\[\[\s*do\s*\]\]", re.MULTILINE)
SET_PATTERN = re.compile(r"^\s*\[\[\s*set\s*\.\s*[\"']?(?P<name>[^\]\"']+?)[\"']?\s*\]\]", re.MULTILINE)
SCRIPT_NAME = "script"


class ScriptRunner:
    """The clock of one script. `place` is the place of the last step, as in error messages (`do 3`)."""

    def __init__(self, script: Script, seed: int, rate: float) -> None:
        self.script, self.rate = script, rate
        self.place = ""
        self.step_number = 0  # of the last step among the script's own, from 1; 0 inside a set and before the first
        self.began: int | None = None
        self._schedule = Schedule(schedule_steps(script, seed))
        self._until = 0  # frame at which the last timed look ends

    def beginning(self, label: str) -> Command | None:
        """The command that leads to the script's initial state; None if it can start at once."""
        script = self.script
        if script.pose is None and script.label in (None, label):
            return None
        return Transition(script.label or label, script.pose)

    def seconds(self, frame: int) -> float:
        """The script's time; 0 before its start."""
        return 0.0 if self.began is None else (frame - self.began) / self.rate

    def due(self, frame: int, done: bool, label: str) -> tuple[ScheduledStep | Command, ...]:
        """The commands and steps of a frame, in order: the transition to the initial state, or steps of the script."""
        if self.began is None:
            transition = None if self.place else self.beginning(label)
            if transition is not None:
                self.place = "beginning"
                return (transition,)
            if self.place and not done:
                return ()
            self.began, done = frame, True  # the first step interrupts the running command
        self._schedule, steps = self._schedule.due(self.seconds(frame), not done)
        for cue in steps:
            self.place = cue.step.place
            self.step_number = self._number_of(cue.step)
            if isinstance(cue.step.action, LookAt):
                self._until = max(self._until, frame + round((cue.step.action.seconds or 0.0) * self.rate))
        return steps

    def _number_of(self, step: ScriptStep) -> int:
        return next((number for number, other in enumerate(self.script.steps, 1) if other is step), 0)

    def is_finished(self, frame: int, done: bool) -> bool:
        """Whether the whole script has been performed."""
        if self.began is None:
            return False
        if self.script.seconds is not None:
            return self.seconds(frame) >= self.script.seconds
        return self._schedule.is_finished and done and frame > self.began and frame >= self._until


def check_script_text(text: str, model: PerformanceModel) -> ScriptCheck:
    """Parse a script and check it against a model."""
    lines = tuple(_line(text, match.end()) for match in STEP_PATTERN.finditer(text))
    try:
        script = parse_script(text, SCRIPT_NAME).check(model)
    except BadFile as error:
        return ScriptCheck(sentence_of(error), line_of(text, error.place, error.reason), 0, lines)
    except InvalidInput as error:
        return ScriptCheck(str(error), 0, 0, lines)
    return ScriptCheck("", 0, len(script.steps), lines)


def sentence_of(error: BadFile) -> str:
    """The error message without a file name, since the text is not a file."""
    return f"{error.place}: {error.reason}" if error.place else error.reason


def line_of(text: str, place: str, reason: str = "") -> int:
    """The line, from 1, of a place such as `do 3` or `set answer 2, do 1`, or of a TOML error; 0 if unknown."""
    named = re.search(r"line (\d+)", f"{place} {reason}")
    if named:
        return int(named[1])
    step = re.match(r"do (\d+)", place)
    if step:
        return _nth(text, list(STEP_PATTERN.finditer(text)), int(step[1]))
    variant = re.match(r"set (?P<name>.+?) (?P<number>\d+)(?:,|$)", place)
    if variant:
        own = [match for match in SET_PATTERN.finditer(text) if match["name"].strip() == variant["name"]]
        return _nth(text, own, int(variant["number"]))
    return 0


def _nth(text: str, matches: list[re.Match[str]], number: int) -> int:
    return _line(text, matches[number - 1].end()) if 1 <= number <= len(matches) else 0


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
