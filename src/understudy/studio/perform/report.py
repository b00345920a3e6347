"""Report: 20 times a second the page hears how the performance goes; frames of the character go their own way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.studio.messages.perform import Happening, Performing, VoicePlace
from understudy.studio.messages.shell import Notice
from understudy.studio.perform.recording import LONGEST, Recording

if TYPE_CHECKING:
    from understudy.live.script import Beat
    from understudy.studio.perform.live_source import LiveSource
    from understudy.studio.session import Session

EVERY = 3  # frames of 60 a second: the page draws the particle between two reports
DIGITS = 4  # of a latent place; the map is drawn a thousand times coarser


class Reporter:
    """Watches a source of one session. It is called after every frame."""

    def __init__(self, session: Session, model: str) -> None:
        self.model = model
        self._session = session
        self._full: Recording | None = None  # the recording of which it was said that it is full

    def __call__(self, source: LiveSource) -> None:
        if source.state.frame % EVERY == 0:
            self._session.emit(report(source, self.model))
        recording = source.recording
        if recording is not None and recording.full and recording is not self._full:
            self._full = recording
            self._session.emit(Notice("warning", f"A take has at most {LONGEST / 60:g} minutes.", "Stop and keep it."))


def report(source: LiveSource, model: str) -> Performing:
    """How a performance goes just now; what has happened is told once."""
    script, recording, dials = source.script, source.recording, source.state.dials
    return Performing(
        model=model,
        time=round(source.time, 4),
        label=source.label,
        doing=source.doing,
        done=source.done,
        voices=tuple(
            VoicePlace(each.label, tuple(round(x, DIGITS) for x in each.x), round(each.weight, 3))
            for each in source.particles
        ),
        ms=round(source.milliseconds, 3),
        recorded=None if recording is None else round(recording.seconds, 2),
        step="" if script is None else script.place,
        step_seconds=0.0 if script is None else round(script.seconds(source.state.frame), 2),
        liveliness=dials.liveliness_to,
        stillness=dials.stillness_to,
        gaze=source.gaze if source.has_gaze else None,
        events=tuple(_happening(beat) for beat in source.take_events()),
    )


def _happening(beat: Beat) -> Happening:
    return Happening(round(beat.seconds, 3), beat.what, beat.about, beat.label)
