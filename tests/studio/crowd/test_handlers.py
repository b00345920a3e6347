"""The crowd over the wire: gathered, seen, turned, and gone."""

from __future__ import annotations

import json
import struct
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.learned import lamp_model
from tests.studio.talking import Page, Refused, Studio

from understudy.studio.crowd.crowd import crowd_of
from understudy.studio.document import ModelEntry
from understudy.studio.source import CROWD_FORM, CROWD_STREAM


@pytest.fixture(scope="module")
def staged(studio: Studio) -> Studio:
    """A studio whose lamp has a model."""
    with studio.page() as page:
        (lamp,) = page.ask("open", path="lamp")["characters"]
    model, session = lamp_model(), studio.session
    place = session.project.place("models", "lamp.understudy")
    place.parent.mkdir(parents=True, exist_ok=True)
    model.save(place)
    entry = ModelEntry("m1", "lamp", lamp, "lamp.understudy", tuple(model.labels))
    studio.in_loop(lambda: session.change(replace(session.document, models=(entry,)), "learn lamp"))
    return studio


@pytest.fixture
def page(staged: Studio) -> Iterator[Page]:
    with staged.page() as page:
        yield page
        page.ask("endCrowd")


def crowd_frame(page: Page, count: int):
    return page.next_frame(lambda frame: frame.stream == CROWD_STREAM and frame.a == count)


def test_gathered_seen_and_gone(staged: Studio, page: Page) -> None:
    answer = page.ask("crowd", model="m1", count=5, vertices=500)
    with urllib.request.urlopen(f"{staged.address}/{answer['address']}") as found:
        data = found.read()
    header = json.loads(data[4 : 4 + struct.unpack_from("<I", data)[0]])
    frame = crowd_frame(page, 5)
    assert frame.form == CROWD_FORM and frame.b == 12 * len(header["bones"]) + header["weights"]
    first = np.frombuffer(frame.payload, np.float32).reshape(5, -1)
    assert np.isfinite(first).all()
    later = np.frombuffer(crowd_frame(page, 5).payload, np.float32).reshape(5, -1)
    assert not np.array_equal(first, later)
    assert header["bounds"] == [list(answer["low"]), list(answer["high"])]
    stats = page.until(lambda event: event["kind"] == "crowdStats")
    assert stats["count"] == 5 and stats["ms"] > 0
    page.ask("endCrowd")
    assert crowd_of(staged.session).performers is None
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{staged.address}/crowd")


def test_it_grows_without_starting_again(staged: Studio, page: Page) -> None:
    page.ask("crowd", model="m1", count=3, vertices=500)
    crowd_frame(page, 3)
    performers = crowd_of(staged.session).performers
    answer = page.ask("crowd", model="m1", count=7, vertices=500)
    crowd_frame(page, 7)
    assert crowd_of(staged.session).performers is performers and answer["count"] == 7
    page.ask("crowd", model="m1", count=7, seed=9, vertices=500)
    assert crowd_of(staged.session).performers is not performers


def test_all_look(staged: Studio, page: Page) -> None:
    page.ask("crowd", model="m1", count=2, vertices=500)
    page.ask("crowdLook", point=[0.0, 1.0, 2.0])
    crowd_frame(page, 2)
    crowd_frame(page, 2)
    performers = crowd_of(staged.session).performers
    assert performers is not None and all(isinstance(state.look, tuple) for state in performers.states)


def test_a_page_that_does_not_draw_gets_no_more(staged: Studio) -> None:
    with staged.page(draws=False) as page:
        page.ask("crowd", model="m1", count=2, vertices=500)
        crowd_frame(page, 2)
        crowd_frame(page, 2)
        with pytest.raises(TimeoutError):
            page.next_frame(lambda frame: frame.stream == CROWD_STREAM, seconds=0.5)
        page.ask("endCrowd")


@pytest.mark.parametrize("wrong", [{"model": "nobody"}, {"model": "m1", "count": 0}, {"model": "m1", "count": 4000}])
def test_what_cannot_be_is_refused(page: Page, wrong: dict) -> None:
    with pytest.raises(Refused):
        page.ask("crowd", **{"count": 2, "vertices": 500, **wrong})
