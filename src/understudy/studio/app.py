"""The web application: the static page, one WebSocket, uploads, and the content that the page fetches.

Over its WebSocket a page sends requests, which are parsed, handled and answered. Bad input never ends the session.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request as WebRequest
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

import understudy
from understudy import cast, formats
from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio import registry
from understudy.studio.messages.message import Event, Request, id_of, parse_request, to_plain, to_wire
from understudy.studio.messages.shell import DocumentChanged, FormatEntry, FrameDrawn, Hello, RequestDone, RequestFailed
from understudy.studio.security import COOKIE, AccessPolicy
from understudy.studio.session import CURRENT_PAGE, Client, Session
from understudy.studio.shell import open_file

LOG = logging.getLogger(__name__)
MAX_CONCURRENT_REQUESTS = 64  # requests of one page that are being handled
MAX_CLIENTS = 16
# `FrameDrawn` as the page writes it, sixty times a second: parsing it as JSON would take a percent of a core.
FRAME_DRAWN_PATTERN = re.compile(r'\{"kind":"seen","sequence":(\d{1,10}),"stream":([0-4])\}', re.ASCII)
STATIC = Path(__file__).parent / "static"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; connect-src 'self' blob:; "
        b"worker-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
    ),
)


def make_app(session: Session, policy: AccessPolicy, static: Path = STATIC) -> ASGIApp:
    """The ASGI application of one session, behind an access policy."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await session.start()
        yield
        await session.stop()

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        await serve_page(session, socket)

    async def upload(request: WebRequest) -> Response:
        return await _receive_upload(session, request)

    routes: list[Any] = [WebSocketRoute("/live", live), Route("/upload", upload, methods=["POST"])]
    routes += [Route(address, _page(session, answer)) for address, answer in registry.content_routes().items()]
    if (static / "index.html").is_file():
        routes.append(Mount("/", StaticFiles(directory=static, html=True)))
    else:
        routes.append(Route("/", _no_page))
    errors = {
        HTTPException: _http_error_response,
        UnderstudyError: _invalid_input_response,
        Exception: _unexpected_error_response,
    }
    return OriginGuard(Starlette(routes=routes, lifespan=lifespan, exception_handlers=errors), policy)


class OriginGuard:
    """Middleware: refuses requests that the policy does not allow, and adds the security headers."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        connection = WebRequest(scope) if scope["type"] == "http" else WebSocket(scope, receive, send)
        given = connection.query_params.get("token", "")
        cookie = f"{COOKIE}_{(scope.get('server') or ('', 0))[1]}"  # cookies of a host are shared by its ports
        token = given or connection.cookies.get(cookie, "")
        acts = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        reason = self._policy.refuses(headers, acts, token)
        if reason:
            await self._refuse(scope, receive, send, reason)
        elif given and self._policy.token and scope["type"] == "http":
            answer = RedirectResponse(scope["path"] or "/", status_code=303)  # removes the token from the address bar
            answer.set_cookie(cookie, self._policy.token, httponly=True, samesite="strict")
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, reason: str) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": reason})
            return
        await JSONResponse({"sentence": reason, "hint": ""}, status_code=403)(scope, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return send_with_headers


def _page(session: Session, answer: Callable[..., Awaitable[registry.Content]]) -> Callable[[WebRequest], Any]:
    async def page(request: WebRequest) -> Response:
        content = await answer(session, **request.path_params)
        headers = {"cache-control": "private, max-age=86400, immutable" if content.kept else "no-store"}
        if isinstance(content.data, Path):
            return FileResponse(content.data, media_type=content.type, filename=content.name or None, headers=headers)
        return Response(content.data, media_type=content.type, headers=headers)

    return page


async def _receive_upload(session: Session, request: WebRequest) -> Response:
    """Parse the form while it arrives, within the size limits, and open its files."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InvalidInput("an upload should be a multipart form")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > open_file.MAX_UPLOAD_BYTES:
        raise InvalidInput(f"an upload should have at most {open_file.MAX_UPLOAD_BYTES >> 20} MB")
    try:
        stream = open_file.limit_stream(request.stream())
        parser = MultiPartParser(request.headers, stream, max_files=open_file.MAX_UPLOAD_FILES, max_fields=8)
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidInput(f"the upload cannot be read: {error.message}") from None
    except (KeyError, ValueError, UnicodeError):
        raise InvalidInput("the upload cannot be read as a multipart form") from None
    try:
        return JSONResponse(to_plain(await open_file.receive(session, form)))
    finally:
        await form.close()


def _sentence_response(sentence: str, status: int, hint: str = "") -> Response:
    return JSONResponse({"sentence": sentence, "hint": hint}, status_code=status)


async def _invalid_input_response(request: WebRequest, error: Exception) -> Response:
    return _sentence_response(str(error), 400)


async def _http_error_response(request: WebRequest, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    sentences = {404: "There is nothing at this address.", 405: "This address does not accept that method."}
    return _sentence_response(sentences.get(status, "This request cannot be answered."), status)


async def _unexpected_error_response(request: WebRequest, error: Exception) -> Response:
    LOG.error("%s failed", request.url.path, exc_info=error)
    return _sentence_response("This failed for a reason that was not foreseen.", 500, "The server's log says more.")


async def _no_page(request: WebRequest) -> Response:
    text = "The page is not built. In a checkout, run `make setup`; the server itself runs."
    return Response(f"<!doctype html><title>understudy</title><p>{text}</p>", 503, media_type="text/html")


# One page's connection ----------------------------------------------------------------------------------------------


async def serve_page(session: Session, socket: WebSocket) -> None:
    """Serve one page until it disconnects."""
    client = Client(socket.send_text, socket.send_bytes)
    if len(session.clients) >= MAX_CLIENTS:
        await socket.close(1013, "too many pages are open")
        return
    send_event(client, hello_event(session))
    client.tell(DocumentChanged.kind, session.document_text())
    for greeting in session.greetings:
        send_event(client, greeting)
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
    return Hello(understudy.__version__, session.id, registry.load(), entries, cast.names(), open_file.MAX_UPLOAD_BYTES)


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
    CURRENT_PAGE.set(client)
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
