"""One page's conversation: texts are parsed, handled and answered; whatever a page sends, the session goes on."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect

import understudy
from understudy import cast, formats
from understudy.errors import UnderstudyError
from understudy.studio import registry, uploads
from understudy.studio.messages.message import Event, Request, id_of, parse_request, to_plain, to_wire
from understudy.studio.messages.shell import DocumentChanged, FormatEntry, FrameDrawn, Hello, RequestDone, RequestFailed
from understudy.studio.session import Client

if TYPE_CHECKING:
    from understudy.studio.session import Session

LOG = logging.getLogger(__name__)
MAX_CONCURRENT_REQUESTS = 64  # requests of one page that are being handled
MAX_CLIENTS = 16
# `Seen` as the page writes it, sixty times a second: reading it like any other message takes a percent of a core
FRAME_DRAWN_PATTERN = re.compile(r'\{"kind":"seen","sequence":(\d{1,10}),"stream":([0-4])\}', re.ASCII)


async def serve_page(session: Session, socket: WebSocket) -> None:
    """Serve one page until it goes."""
    client = Client(socket.send_text, socket.send_bytes)
    if len(session.clients) >= MAX_CLIENTS:
        await socket.close(1013, "too many pages are open")
        return
    send_event(client, hello_event(session))
    client.tell(DocumentChanged.kind, session.document_text())
    for job in session.jobs.running():
        job.tell()
    session.clients.add(client)
    session.ticker.request_redraw()
    tasks = {asyncio.create_task(client.run()), asyncio.create_task(_listen(session, socket, client))}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        session.clients.discard(client)
        for task in tasks:
            task.cancel()
        for found in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(found, Exception) and not isinstance(found, WebSocketDisconnect | RuntimeError):
                LOG.error("a page's connection failed", exc_info=found)
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it has gone already
            await socket.close()


def hello_event(session: Session) -> Hello:
    """The first event: what there is."""
    known = tuple(FormatEntry(each.name, each.endings, each.writes, each.about) for each in formats.FORMATS)
    return Hello(understudy.__version__, session.id, registry.load(), known, cast.names(), uploads.MAX_UPLOAD_BYTES)


async def _listen(session: Session, socket: WebSocket, client: Client) -> None:
    """Requests in the order in which they come; those that take long go on while others are handled."""
    going: set[asyncio.Task[None]] = set()
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        if text is None:
            send_event(client, RequestFailed(0, "A message should be text, but is binary."))
            continue
        if drawn := FRAME_DRAWN_PATTERN.fullmatch(text):
            client.acknowledge(int(drawn[2]), int(drawn[1]))
            continue
        try:
            request = parse_request(text)
        except UnderstudyError as error:
            send_event(client, RequestFailed(id_of(text), str(error)))
            continue
        if isinstance(request, FrameDrawn):
            client.acknowledge(request.stream, request.sequence)
            continue
        if len(going) >= MAX_CONCURRENT_REQUESTS:
            send_event(client, RequestFailed(request.id, "Too much is being done at once; wait a moment."))
            continue
        task = asyncio.create_task(answer_request(session, request, client))
        going.add(task)
        task.add_done_callback(going.discard)
        await asyncio.sleep(0)  # it begins before the next is read


async def answer_request(session: Session, request: Request, client: Client) -> None:
    """Handle a request, and answer it where it has an id."""
    reply: Event
    try:
        reply = RequestDone(request.id, to_plain(await call_handler(session, request)))
    except UnderstudyError as error:
        reply = RequestFailed(request.id, str(error), getattr(error, "hint", ""))
    except Exception:
        LOG.exception("the request %s failed", request.kind)
        reply = RequestFailed(
            request.id, "This failed for a reason that was not foreseen.", "The server's log says more."
        )
    if request.id or isinstance(reply, RequestFailed):
        send_event(client, reply)


async def call_handler(session: Session, request: Request) -> Any:
    """What the handler of a request returns."""
    handler = registry.handler_of(type(request))
    if handler is None:
        raise UnderstudyError(f"nothing here answers {request.kind}")
    return await handler(session, request)


def send_event(client: Client, event: Event) -> None:
    """Send an event to one page."""
    client.tell(event.kind, to_wire(event))
