"""One page's connection: requests are parsed, handled and answered. Bad input never ends the session."""

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
# `FrameDrawn` as the page writes it, sixty times a second: parsing it as JSON would take a percent of a core.
FRAME_DRAWN_PATTERN = re.compile(r'\{"kind":"seen","sequence":(\d{1,10}),"stream":([0-4])\}', re.ASCII)


async def serve_page(session: Session, socket: WebSocket) -> None:
    """Serve one page until it disconnects."""
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
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect | RuntimeError):
                LOG.error("a page's connection failed", exc_info=result)
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it is closed already
            await socket.close()


def hello_event(session: Session) -> Hello:
    """The first event of a connection: version, modes, formats and cast."""
    entries = tuple(FormatEntry(each.name, each.endings, each.writes, each.about) for each in formats.FORMATS)
    return Hello(understudy.__version__, session.id, registry.load(), entries, cast.names(), uploads.MAX_UPLOAD_BYTES)


async def _listen(session: Session, socket: WebSocket, client: Client) -> None:
    """Start requests in the order of arrival; slow ones run beside the others."""
    running: set[asyncio.Task[None]] = set()
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
        if len(running) >= MAX_CONCURRENT_REQUESTS:
            send_event(client, RequestFailed(request.id, "Too many requests are running; wait a moment."))
            continue
        task = asyncio.create_task(answer_request(session, request, client))
        running.add(task)
        task.add_done_callback(running.discard)
        await asyncio.sleep(0)  # the task starts before the next message is read


async def answer_request(session: Session, request: Request, client: Client) -> None:
    """Handle a request, and answer it if it has an id."""
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
    """The result of a request's handler."""
    handler = registry.handler_of(type(request))
    if handler is None:
        raise UnderstudyError(f"there is no handler for {request.kind}")
    return await handler(session, request)


def send_event(client: Client, event: Event) -> None:
    """Send an event to one page."""
    client.tell(event.kind, to_wire(event))
