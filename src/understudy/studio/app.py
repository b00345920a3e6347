"""The web application: the static page, one WebSocket, uploads, and the content that the page fetches."""

from __future__ import annotations

import contextlib
import logging
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
from starlette.websockets import WebSocket

from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio import registry, uploads
from understudy.studio.connection import serve_page
from understudy.studio.messages.message import to_plain
from understudy.studio.security import COOKIE, AccessPolicy
from understudy.studio.session import Session

LOG = logging.getLogger(__name__)
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
    if length.isdecimal() and int(length) > uploads.MAX_UPLOAD_BYTES:
        raise InvalidInput(f"an upload should have at most {uploads.MAX_UPLOAD_BYTES >> 20} MB")
    try:
        stream = uploads.limit_stream(request.stream())
        parser = MultiPartParser(request.headers, stream, max_files=uploads.MAX_UPLOAD_FILES, max_fields=8)
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidInput(f"the upload cannot be read: {error.message}") from None
    except (KeyError, ValueError, UnicodeError):
        raise InvalidInput("the upload cannot be read as a multipart form") from None
    try:
        return JSONResponse(to_plain(await uploads.receive(session, form)))
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
