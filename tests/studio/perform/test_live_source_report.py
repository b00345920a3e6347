"""Reports: 20 a second, each happening told once, a full recording said once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from understudy.perform.commands import Transition
from understudy.studio.messages.message import Event, to_wire
from understudy.studio.messages.perform import PerformanceStatus
from understudy.studio.messages.shell import Notice
from understudy.studio.perform import recording
from understudy.studio.perform.live_source import LiveSource, PerformanceReporter


@pytest.fixture
def told(source: LiveSource) -> list[Event]:
    found: list[Event] = []
    source.watch = PerformanceReporter(SimpleNamespace(emit=found.append), "m")  # type: ignore[arg-type]
    return found


def test_twenty_a_second_and_all_of_it_fits_the_wire(source: LiveSource, told: list[Event]) -> None:
    source.tell(Transition("sad"))
    for _ in range(60):
        source.advance(1 / 60)
    assert len(told) == 20 and all(isinstance(event, PerformanceStatus) for event in told)
    assert all(len(to_wire(event)) < 1000 for event in told)
    happened = [each.what for event in told for each in event.events]
    assert happened.count("transition") == 1
    assert told[-1].doing == "transition sad"
    np.testing.assert_allclose(told[-1].voices[0].x, source.particles[0].x, atol=1e-1)


def test_a_full_recording_is_said_once(source: LiveSource, told: list[Event], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_TAKE_SECONDS", 0.1)
    source.start_recording()
    for _ in range(30):
        source.advance(1 / 60)
    assert sum(isinstance(event, Notice) for event in told) == 1
    assert len(source.stop_recording().rows) == 6
