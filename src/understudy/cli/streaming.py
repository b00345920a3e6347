"""`perform --live`: each frame goes to another program the moment it is performed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from understudy.cli import options
from understudy.opening import Opened

if TYPE_CHECKING:
    from understudy.live.script import Performance, Script


def address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT; the host alone means VMC's own port, and an address of IPv6 stands in brackets."""
    from understudy.live.vmc.stream import PORT

    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.strip("[]"), PORT
    if not port.isdecimal() or not 1 <= int(port) <= 65535 or not host:
        raise click.UsageError(f"--live {text!r} should be HOST:PORT, as in --live 127.0.0.1:{PORT}")
    return host.strip("[]"), int(port)


def stream(script: Script, opened: Opened, seed: int, where: str, quiet: bool) -> Performance:
    """Perform in real time, and send every frame as bones and blend values by the VMC protocol."""
    from understudy.live.script import run
    from understudy.live.vmc.stream import Stream

    host, port = address(where)
    performer = opened.performer(script.rate)
    with Stream(host, port, opened.rig) as out, options.progress(f"streaming to {host}:{port}", quiet) as progress:
        return run(
            script,
            performer,
            progress,
            seed,
            watch=lambda frame: out.send(frame.row, (frame.state.frame - 1) / script.rate),
        )
