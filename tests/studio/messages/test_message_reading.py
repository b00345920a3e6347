"""Reading requests: sound ones come through as they are, all else is one sentence."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from tests.studio.messages.hostile import hostile

from understudy.errors import InvalidInput
from understudy.studio.document import ClipEntry, Document, StageState
from understudy.studio.messages.message import id_of, parse_request, read_plain, requests, to_plain
from understudy.studio.messages.shell import Select, SetPlaying, SetPointer, Show, Transport
from understudy.studio.project import Origin, SavedProject

SOUND = (
    SetPlaying(True, id=3),
    Show("c1", "walk", id=2**50),
    Show("c1"),
    SetPointer((0.5, 1.0, -2.0)),
    SetPointer(None),
    Select(("Head", "Ünï cödé")),
    Transport(rate=0.5, loop=False, start=0.0, stop=2.5),
)


@pytest.mark.parametrize("request_", SOUND, ids=lambda each: each.kind)
def test_what_is_written_is_read_back(request_: Any) -> None:
    assert parse_request(json.dumps({"kind": request_.kind, **to_plain(request_)})) == request_


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"kind":"dance"}', "no request of the kind"),
        ('{"playing":true}', "no request of the kind null"),
        ('{"kind":"play"}', "should have the field 'playing'"),
        ('{"kind":"play","playing":1}', "play.playing should be true or false, but is 1"),
        ('{"kind":"play","playing":true,"speed":2}', 'no field "speed"'),
        ('{"kind":"seek","time":-1}', "seek.time should be a number from 0"),
        ('{"kind":"seek","time":"1"}', "should be a number"),
        ('{"kind":"seek","time":true}', "should be a number"),
        ('{"kind":"seek","time":NaN}', "finite"),
        ('{"kind":"seen","sequence":1.5}', "whole number"),
        ('{"kind":"look","point":[1,2]}', "should have 3 entries, but has 2"),
        ('{"kind":"look","point":[1,2,null]}', r"look.point\[2\] should be a number"),
        ('{"kind":"select","names":"Head"}', "should be a list"),
        ('{"kind":"delete","what":"server","target":"x"}', "should be one of"),
        ('{"kind":"show","character":"\\u0007"}', "control character"),
        ('{"kind":"undo","kind":"redo"}', "twice"),
        ("[1]", "JSON object"),
        ("{", "should be JSON"),
    ],
)
def test_what_is_wrong_is_said(text: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse_request(text)


def test_a_thousand_hostile_messages_are_refused_or_harmless() -> None:
    refused = 0
    for seed in range(1000):
        text = hostile(seed)
        try:
            request = parse_request(text)
        except InvalidInput as error:
            refused += 1
            assert len(str(error)) < 500 and "\n" not in str(error)
        else:  # what comes through has fields of the right types
            assert type(request) is requests()[request.kind]
            assert json.loads(json.dumps(to_plain(request), allow_nan=False)) is not None
    assert refused > 900


def test_the_id_is_found_in_what_cannot_be_read() -> None:
    assert id_of('{"kind":"seek","id":17,"time":"x"}') == 17
    assert [id_of(text) for text in ("", '{"id":-1}', '{"id":"5"}', '{"id":99999999999999999999}')] == [0, 0, 0, 0]


def test_a_document_comes_back_from_a_file() -> None:
    clip = ClipEntry("walk", "Walk", 1.0, 25, 24.0, labels=("happy",), moments={"left_foot": 0.5})
    from understudy.studio.document import CharacterEntry

    hero = CharacterEntry("c1", "hero", "hero.glb", "glb", clips=(clip,), notes=("x" * 5000,))
    saved = SavedProject(
        1, Document("film", (hero,), stage=StageState("c1", "clip", "walk")), {"c1": Origin(cast="lamp")}
    )
    assert read_plain(SavedProject, json.loads(json.dumps(to_plain(saved))), "project") == saved


def test_every_field_of_every_request_is_checked() -> None:
    for kind, request in requests().items():
        for each in dataclasses.fields(request):
            with pytest.raises(InvalidInput):
                parse_request(json.dumps({"kind": kind, each.name: {"not": ["of", "this", "type"]}}))
