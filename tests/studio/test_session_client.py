"""One page: texts in order, frames only as fast as they are drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.studio.session import MAX_FRAMES_IN_FLIGHT, MAX_WAITING_TEXTS, Client


def talking(script: Callable[[Client, list[Any]], Any]) -> list[Any]:
    """What a client sends while a script goes on."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        client = Client(send, send)
        task = asyncio.create_task(client.run())
        await script(client, sent)
        await settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    return sent


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_no_more_than_the_window_is_on_its_way() -> None:
    async def script(client: Client, sent: list[Any]) -> None:
        for sequence in range(1, 11):
            client.show(0, sequence, b"%d" % sequence)
            await settle()
        assert sent == [b"1", b"2"]
        assert not client.takes(0) and client.takes(1)
        client.acknowledge(0, 1)
        await settle()
        assert sent == [b"1", b"2", b"10"]  # the newest, not the next
        assert client.dropped == 7

    talking(script)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["frame", "draw", "lie"]), max_size=60))
def test_it_never_falls_behind(steps: list[str]) -> None:
    async def script(client: Client, sent: list[Any]) -> None:
        newest, drawn = 0, 0
        for step in steps:
            if step == "frame":
                newest += 1
                client.show(0, newest, b"%d" % newest)
            elif step == "draw" and drawn < len(sent):
                client.acknowledge(0, int(sent[drawn]))
                drawn += 1
            else:
                client.acknowledge(0, 10**6)  # never sent: nothing changes
            await settle()
            assert len(sent) - drawn <= MAX_FRAMES_IN_FLIGHT
            assert sent == sorted(sent, key=int) and len(set(sent)) == len(sent)
            if len(sent) - drawn < MAX_FRAMES_IN_FLIGHT and newest:
                assert int(sent[-1]) == newest

    talking(script)


def test_texts_keep_their_order_and_documents_replace_each_other() -> None:
    async def script(client: Client, sent: list[Any]) -> None:
        for kind, text in [("job", "a"), ("document", "1"), ("job", "b"), ("document", "2"), ("done", "c")]:
            client.tell(kind, text)

    assert talking(script) == ["a", "b", "2", "c"]


def test_a_page_that_takes_nothing_is_lost() -> None:
    async def never(message: Any) -> None:
        await asyncio.Event().wait()

    async def run() -> None:
        client = Client(never, never)
        for number in range(MAX_WAITING_TEXTS + 2):
            client.tell("job", str(number))
        assert client.lost and not client.takes(0)
        await asyncio.wait_for(client.run(), 1)

    asyncio.run(run())
