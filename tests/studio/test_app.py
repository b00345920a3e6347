"""The application: who is let in, what errors say, and that whatever a page sends, the session goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
import websockets.exceptions
from tests.studio.messages.hostile import hostile_texts
from tests.studio.talking import Refused, Studio

from understudy.studio.security import AccessPolicy
from understudy.studio.session import Session


def test_a_page_hears_who_is_there_and_what_is_on_stage(studio: Studio) -> None:
    with studio.page() as page:
        hello = page.events[0]
        assert hello["kind"] == "hello" and hello["session"] == studio.session.id
        assert {entry["name"] for entry in hello["formats"]} >= {"glb", "bvh", "usd", "c3d", "csv"}
        assert page.document["stage"]["driver"] == "clip" and page.document["stage"]["playing"]
        frame = page.next_frame()
        assert (frame.form, frame.stream) == (1, 0) and len(frame.payload) == 4 * (12 * frame.a + frame.b)


def test_strangers_are_refused(studio: Studio) -> None:
    for headers in ({"origin": "http://evil.org"}, {"host": "evil.org"}):
        assert httpx.get(f"{studio.address}/", headers=headers).status_code == 403
        assert httpx.post(f"{studio.address}/upload", headers=headers).status_code == 403
    with pytest.raises(websockets.exceptions.InvalidStatus), studio.page(origin="http://evil.org"):
        pass


def test_pages_keep_to_themselves(studio: Studio) -> None:
    headers = httpx.get(f"{studio.address}/nowhere").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    assert "server" not in headers


@pytest.mark.parametrize(
    "address",
    [
        *("/nowhere", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/stage/nobody", "/stage/%00", "/stage/../x"),
        *("/export/x", "/export/..%2fproject.json", "/export/0123456789abcdef-x.glb", "/stage/nobody/texture/0"),
        *("/stage/nobody/texture/-1", "/stage/nobody/texture/99999999999999999999", "/" + "a" * 4000, "/map/nobody"),
    ],
)
def test_errors_are_sentences_without_paths(studio: Studio, address: str) -> None:
    answer = httpx.get(studio.address + address)
    assert 400 <= answer.status_code < 500
    said = answer.text
    assert answer.json()["sentence"].endswith((".", "again")) or len(answer.json()["sentence"]) < 200
    assert "Traceback" not in said and str(studio.session.folder) not in said and ".py" not in said


def test_a_mistake_of_ours_is_a_sentence_too(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    character = studio.session.document.characters[0].id

    def fails(id: str) -> None:
        raise RuntimeError("/home/somebody/secret.py")

    monkeypatch.setattr(studio.session.assets, "get", fails)
    answer = httpx.get(f"{studio.address}/stage/{character}")
    assert answer.status_code == 500 and "secret" not in answer.text and "not foreseen" in answer.text
    with studio.page() as page, pytest.raises(Refused, match="not foreseen"):
        page.ask("show", character=character)


def test_a_thousand_hostile_messages(studio: Studio) -> None:
    """All on one connection: each is refused or does no harm, nothing is lost, and the next request is answered."""
    before = studio.session.document.characters
    with studio.page() as page:
        for number, text in enumerate(hostile_texts(1050, 1 << 20)):
            page.send(text)
            if number % 100 == 99:
                assert page.ask("ping")["seconds"] > 0
        page.send(b"\x00" * 100_000)  # binary
        assert page.ask("ping")["seconds"] > 0
        failures = [event for event in page.events if event["kind"] == "failed"]
        assert len(failures) > 900
        assert not any("Traceback" in event["sentence"] or "/" + "home" in event["sentence"] for event in failures)
        assert not any("not foreseen" in event["sentence"] for event in failures), "a handler broke"
    assert studio.session.document.characters == before
    with studio.page() as page:
        page.ask("play", playing=True)
        assert page.next_frame().a > 0


def test_a_message_that_is_too_large_ends_that_page_alone(studio: Studio) -> None:
    with studio.page() as other:
        with studio.page() as page, pytest.raises(websockets.exceptions.ConnectionClosed):
            page.send(json.dumps({"kind": "ping", "x": "a" * 5_000_000}))
            page.until(lambda event: False)
        assert other.ask("ping")["seconds"] > 0


def test_two_pages_see_the_same(studio: Studio) -> None:
    with studio.page() as one, studio.page() as two:
        one.ask("rename", what="project", target="", name="film")
        assert two.until(lambda event: event["kind"] == "document")["document"]["name"] == "film"
        two.ask("undo")
        assert one.until(lambda event: event["kind"] == "document")["document"]["name"] == "untitled"


def test_with_a_token_the_address_leaves_a_cookie(tmp_path: Path) -> None:
    from understudy.studio.app import make_app

    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text("the page")
    app = make_app(Session(tmp_path / "project"), AccessPolicy("0.0.0.0", "right"), tmp_path / "page")

    async def visit() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://studio:7860") as client:
            assert (await client.get("/")).status_code == 403
            assert (await client.get("/?token=wrong")).status_code == 403
            answer = await client.get("/?token=right")
            assert answer.status_code == 303 and answer.headers["location"] == "/"
            assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=strict" in answer.headers["set-cookie"]
            assert (await client.get("/")).text == "the page"

    asyncio.run(visit())
