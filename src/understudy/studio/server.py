"""The studio's server: uvicorn on its own port until it is stopped, and the files that are opened at the start."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput, UnderstudyError
from understudy.perform.pose_model import is_model
from understudy.studio.app import STATIC, make_app
from understudy.studio.messages.message import MAX_MESSAGE_CHARACTERS
from understudy.studio.messages.shell import Notice
from understudy.studio.project import Origin
from understudy.studio.security import AccessPolicy, is_loopback
from understudy.studio.session import Session
from understudy.studio.shell.open_file import open_origin

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_PORT = 7860
PORT_ATTEMPTS = 20  # ports that are tried if none was given
DEFAULT_CHARACTER = "dragon"  # opened if nothing else is


class Server:
    """Serves a session. `begin` runs in the server's loop as soon as the page can be opened."""

    def __init__(
        self,
        session: Session,
        host: str = "127.0.0.1",
        port: int | None = None,
        begin: Callable[[Session], object] | None = None,
        static: Path = STATIC,
    ) -> None:
        import uvicorn

        self.session, self.policy = session, AccessPolicy.for_host(host)
        session.project.hold()
        self.socket = open_socket(host, port)
        self.port = int(self.socket.getsockname()[1])
        self._begin = begin
        config = uvicorn.Config(
            make_app(session, self.policy, static),
            ws="websockets-sansio",
            ws_per_message_deflate=False,  # compression costs more time than it saves on a local connection
            ws_max_size=4 * MAX_MESSAGE_CHARACTERS,  # bytes: up to four for each character
            ws_ping_interval=20.0,
            ws_ping_timeout=60.0,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=30,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """The address to open in the browser."""
        host = self.policy.host
        if not is_loopback(host):
            host = socket.gethostname() if host in ("0.0.0.0", "::") else host
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}/" + (f"?token={self.policy.token}" if self.policy.token else "")

    def run(self, opened: Callable[[], None] | None = None) -> None:
        """Serve until Ctrl+C; `opened` is called as soon as the page can be opened."""
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._serve(opened))

    def stop(self) -> None:
        """Stop, from any thread."""
        self._server.should_exit = True

    async def _serve(self, opened: Callable[[], None] | None) -> None:
        serving = asyncio.create_task(self._server.serve(sockets=[self.socket]))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.01)
        began = None
        if not serving.done():
            if opened is not None:
                opened()
            if self._begin is not None:
                result = self._begin(self.session)
                began = asyncio.ensure_future(result) if asyncio.iscoroutine(result) else None
        await serving
        if began is not None:
            began.cancel()
            for error in await asyncio.gather(began, return_exceptions=True):
                if isinstance(error, Exception):
                    logging.getLogger(__name__).error("the start failed", exc_info=error)


def open_socket(host: str, port: int | None) -> socket.socket:
    """A socket at the port; if none is given, at the first free one from `DEFAULT_PORT` on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [port] if port is not None else [*range(DEFAULT_PORT, DEFAULT_PORT + PORT_ATTEMPTS), 0]
    for number in wanted:
        # with IPPROTO_TCP asyncio sends small messages at once; else the second waits 40 ms for the acknowledgement
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE and number != wanted[-1]:
                continue
            reason = error.strerror or error
            raise InvalidInput(f"cannot listen at {host}, port {number}: {reason}") from None
        listener.setblocking(False)
        return listener
    raise InvalidInput(f"cannot listen at {host}")


async def open_all(session: Session, names: Iterable[str]) -> None:
    """Open files and members of the cast, except those that are open already."""
    from understudy import cast

    wanted = list(names)
    if not wanted and not session.document.characters:
        wanted = [DEFAULT_CHARACTER]
    for name in wanted:
        path = Path(name)
        is_cast = name in cast.names() and not path.exists()
        origin = Origin(cast=name) if is_cast else Origin(path=str(path.resolve()))
        known = [id for id, other in session.project.origins.items() if other == origin]
        is_open = any(session.document.character(id) for id in known)
        if is_model(name):  # the project keeps a copy under the same name
            is_open = path.stem in {entry.name for entry in session.document.models}
        try:
            if not is_open:
                await open_origin(session, origin, name if is_cast else path.name)
        except UnderstudyError as error:
            session.emit(Notice("error", str(error), "The other files are open."))
