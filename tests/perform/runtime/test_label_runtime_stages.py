"""Label runtimes are made on first use, once each, from any thread; a performer does not depend on when."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig

from understudy.perform.commands import Transition
from understudy.perform.runtime.label_runtime import LabelRuntime, LabelRuntimes
from understudy.perform.runtime.performer import Performer


def test_each_is_made_once_and_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = [], LabelRuntime.from_space.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        LabelRuntime, "from_space", classmethod(lambda cls, space: made.append(space.label) or make(cls, space))
    )
    spaces = lamp_model().spaces
    stages = LabelRuntimes(spaces)
    assert list(stages) == list(spaces) and len(stages) == len(spaces) and not made
    label = next(iter(spaces))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: stages[label], range(8)))
    assert made == [label] and all(each is found[0] for each in found)
    assert all(stage.space is spaces[name] for name, stage in stages.items()) and sorted(made) == sorted(spaces)
    with pytest.raises(KeyError):
        stages["nobody"]


def test_who_is_not_prepared_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = [], LabelRuntime.from_space.__func__  # type: ignore[attr-defined]
    takes = []
    for prepared in (True, False):
        performer = Performer(lamp_model(), lamp_rig(), 24.0, prepared=prepared, layers=False)
        monkeypatch.setattr(
            LabelRuntime, "from_space", classmethod(lambda cls, space: made.append(space.label) or make(cls, space))
        )
        state, rows = performer.init("sad"), []
        for frame in range(60):
            if frame == 20 and not prepared:
                assert made == ["sad"], "the first frames need no other label"
            state, row = performer.step(state, Transition("happy") if frame == 20 else None)
            rows.append(row)
        takes.append(np.array(rows))
    assert np.array_equal(*takes)
