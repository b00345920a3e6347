"""The clock of the stage: frames while something plays, none otherwise, and fewer where a page or a rig is slow."""

from __future__ import annotations

import time

import pytest
from tests.studio.talking import Studio


def test_nothing_is_sent_while_nothing_moves(studio: Studio) -> None:
    with studio.page() as page:
        page.ask("play", playing=False)
        page.ask("ping")
        with pytest.raises(TimeoutError):
            while True:
                page.take(0.3)
        count = len(page.frames)
        page.ask("seek", time=0.25)
        page.next_frame()
        with pytest.raises(TimeoutError):
            while True:
                page.take(0.3)
        assert len(page.frames) == count + 1


def test_a_new_page_gets_the_frame_that_stands(studio: Studio) -> None:
    with studio.page() as page:
        page.ask("play", playing=False)
    with studio.page() as page:
        assert page.next_frame().payload


def test_a_page_that_does_not_draw_gets_two_frames_and_then_the_newest(studio: Studio) -> None:
    with studio.page(draws=False) as page:
        page.ask("play", playing=True)
        while len(page.frames) < 2:  # one or both may have come before the answer
            page.take()
        first = list(page.frames)
        time.sleep(0.3)
        page.ask("ping")
        assert len(page.frames) == 2
        page.seen(first[0])
        page.seen(first[1])
        newest = page.next_frame()
        time.sleep(0.2)
        assert newest.sequence > first[1].sequence
        page.seen(newest)
        assert page.next_frame().sequence > newest.sequence


def test_what_it_costs_is_told(studio: Studio) -> None:
    with studio.page() as page:
        page.ask("play", playing=True)
        stats = page.until(lambda event: event["kind"] == "stats")
        stats = page.until(lambda event: event["kind"] == "stats")
        assert stats["ms"] > 0 and stats["fps"] > 1 and stats["bytes"] > 0


@pytest.mark.parametrize("error", [RuntimeError("secret.py"), None])
def test_a_source_that_fails_is_paused(studio: Studio, error: Exception | None) -> None:
    from understudy.errors import InvalidInput

    raised = error or InvalidInput("the clip is torn")
    with studio.page() as page:
        page.ask("show", character=studio.session.document.characters[0].id, clip="sway")
        page.next_frame()
        source = studio.session.source
        assert source is not None

        def fails(seconds: float) -> None:
            raise raised

        source.advance = fails  # type: ignore[method-assign, assignment]
        notice = page.until(lambda event: event["kind"] == "notice")
        assert notice["level"] == "error" and "secret" not in notice["sentence"]
        page.ask("ping")
        assert not page.document["stage"]["playing"]
        page.ask("show", character=studio.session.document.characters[0].id, clip="bow")
        last = page.frames[-1].sequence
        assert page.next_frame(lambda frame: frame.sequence > last).payload
