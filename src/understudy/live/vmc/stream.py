"""Live out: a performance sent to other programs, frame by frame, by the VMC protocol (OSC over UDP).

    with Stream("127.0.0.1", 39539, rig) as stream:
        for frame in range(...):
            state, row = performer.step(state, command)
            stream.send(row, frame / rate)

A frame is `/VMC/Ext/OK`, `/VMC/Ext/T`, `/VMC/Ext/Root/Pos`, a `/VMC/Ext/Bone/Pos` for each bone, a `/VMC/Ext/Blend/Val`
for each shape, and `/VMC/Ext/Blend/Apply`, in bundles that fit a packet. All shapes go out in each frame, as receivers
forget those that were not sent. Scales have no place in the protocol. What the numbers mean stands in `vmc_bones`.

Reference: protocol.vmc.info, version 3.1.
"""

from __future__ import annotations

import socket
import time as clock
from collections.abc import Iterator
from types import TracebackType

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.live.vmc import osc
from understudy.live.vmc.bones import SentBones
from understudy.rig import LayeredRig, PosedRig

PORT = 39539  # where receivers (Marionettes) listen
LATE = 0.25  # seconds behind after which the clock starts anew: nobody wants to see the past go by in a hurry
BLENDS = ("shapes", "controls")


class Packer:
    """Makes the packets of a frame. What stays the same of each message is made once.

    `blends` says what a rig with controls sends as blend values: the weights of its shapes, for a receiver that has the
    exported character, or the controls themselves.
    """

    def __init__(self, rig: PosedRig, human: bool | None = None, blends: str = "shapes") -> None:
        self.rig, self.blends = rig, checks.one_of(blends, "kind of blend values", BLENDS)
        self.bones = SentBones.of(rig, human)
        self._bones = [osc.opening("/VMC/Ext/Bone/Pos", name, 7) for name in self.bones.names]
        self.blend_names, self._columns = _blends(rig, blends)
        self._blends = [osc.opening("/VMC/Ext/Blend/Val", name, 1) for name in self.blend_names]
        self._ok = osc.message("/VMC/Ext/OK", 1)
        self._root = osc.message("/VMC/Ext/Root/Pos", "root", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        self._apply = osc.message("/VMC/Ext/Blend/Apply")

    def packets(self, row: Array, time: float) -> Iterator[bytes]:
        """The packets of a row (C,) at a time in seconds."""
        return osc.bundles(self._messages(row, time))

    def _messages(self, row: Array, time: float) -> Iterator[bytes]:
        yield self._ok
        yield osc.message("/VMC/Ext/T", float(time))
        yield self._root
        places, turns = self.bones.poses(row)
        numbers = np.concatenate([places, turns], axis=1).astype(">f4").tobytes()
        for number, start in enumerate(self._bones):
            yield start + numbers[28 * number : 28 * number + 28]
        if not self._blends:
            return
        values = self._weights(row).astype(">f4").tobytes()
        for number, start in enumerate(self._blends):
            yield start + values[4 * number : 4 * number + 4]
        yield self._apply

    def _weights(self, row: Array) -> Array:
        """(B,) the blend values of a row (C,)."""
        if isinstance(self.rig, LayeredRig) and self.blends == "shapes":
            return self.rig.parameters(row[None])[0, len(self.rig.layers.components) :]
        return row[self._columns]


def _blends(rig: PosedRig, blends: str) -> tuple[tuple[str, ...], Array]:
    """The names of the blend values, and the columns (B,) of a row that they are (none for the shapes of controls)."""
    if isinstance(rig, LayeredRig):
        if blends == "shapes":
            return rig.layers.shapes.names, np.zeros(0, np.int64)
        return rig.controls.names, np.arange(len(rig.controls))
    found: dict[str, int] = {}
    for number, channel in enumerate(rig.channels):
        if channel.kind == "weights":
            for i, name in enumerate(channel.columns):
                found.setdefault(name, int(rig.channels.offsets[number]) + i)
    return tuple(found), np.array(list(found.values()), np.int64)


class Stream:
    """Sends rows to a receiver as their time comes."""

    def __init__(
        self,
        host: str,
        port: int,
        rig: PosedRig,
        human: bool | None = None,
        blends: str = "shapes",
        paced: bool = True,
    ) -> None:
        self.packer = Packer(rig, human, blends)
        self.host, self.port, self.paced = host, port, paced
        self._socket, self._address = _open(host, port)
        self._start: float | None = None  # what the clock showed at time 0 of the performance

    def send(self, row: Array, time: float) -> int:
        """Send a row (C,) of the rig at `time` seconds of the performance, not before; returns how many packets."""
        values = np.asarray(row, np.float64)
        if values.shape != self.packer.rig.rest.shape or not np.isfinite(values).all():
            raise InvalidInput(
                f"a row to send should hold {self.packer.rig.rest.size} finite numbers, but has shape {values.shape}"
                + ("" if np.isfinite(values).all() else " and holds others")
            )
        packets = list(self.packer.packets(values, time))
        if self.paced:
            self._wait(time)
        try:
            for packet in packets:
                self._socket.sendto(packet, self._address)
        except OSError as error:
            raise InvalidInput(
                f"nothing can be sent to host {self.host!r}, port {self.port}: {error.strerror or error}"
            ) from None
        return len(packets)

    def _wait(self, time: float) -> None:
        now = clock.perf_counter()
        if self._start is None or now > self._start + time + LATE:
            self._start = now - time
        left = self._start + time - now
        if left > 0:
            clock.sleep(left)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _open(host: str, port: int) -> tuple[socket.socket, tuple[str, int]]:
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
        raise InvalidInput(f"the port should be a whole number from 1 to 65535 (VMC's is {PORT}), but is {port!r}")
    if not isinstance(host, str) or not host.strip():
        raise InvalidInput(f"the host should be a name or an address such as 127.0.0.1, but is {host!r}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"host {host!r} cannot be found: {reason}") from None
    # most receivers listen on IPv4 alone, and `localhost` is often told in IPv6 first
    family, kind, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return socket.socket(family, kind), (str(address[0]), int(address[1]))
