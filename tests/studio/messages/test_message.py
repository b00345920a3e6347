"""Messages as text."""

from __future__ import annotations

import json

import pytest

from understudy.studio.document import Document, StageState
from understudy.studio.messages.message import Event, Request, camel, events, requests, to_plain, to_wire
from understudy.studio.messages.shell import DocumentChanged, JobChanged, RequestDone, SetPlaying


def test_names_are_written_as_the_browser_writes_them() -> None:
    assert [camel(name) for name in ("can_undo", "kind", "a_b_c")] == ["canUndo", "kind", "aBC"]


def test_an_event_is_one_object_with_its_kind() -> None:
    event = DocumentChanged(Document(stage=StageState(time=1.5)), can_undo=True, can_redo=False)
    found = json.loads(to_wire(event))
    assert found["kind"] == "document" and found["canUndo"] is True
    assert found["document"]["stage"]["time"] == 1.5 and found["document"]["characters"] == []


def test_keys_of_dictionaries_stay_as_they_are() -> None:
    assert to_plain({"left_hand": (1, 2)}) == {"left_hand": [1, 2]}


def test_numbers_that_json_has_not_are_refused_at_the_source() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_wire(JobChanged("a", "b", float("nan"), 1, 1, "running"))


def test_answers_carry_the_id_of_the_request() -> None:
    assert json.loads(to_wire(RequestDone(7, {"url": "x"}))) == {"kind": "done", "id": 7, "result": {"url": "x"}}


def test_all_messages_are_registered_by_their_kind() -> None:
    assert requests()["play"] is SetPlaying
    assert all(issubclass(each, Request) and each.kind == kind for kind, each in requests().items())
    assert all(issubclass(each, Event) and each.kind == kind for kind, each in events().items())
