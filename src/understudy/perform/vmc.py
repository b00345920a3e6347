"""Live output: a performance sent to other programs, frame by frame, by the VMC protocol (OSC over UDP).

    with VmcStream("127.0.0.1", 39539, rig) as stream:
        for frame in range(...):
            state, row = performer.step(state, command)
            stream.send(row, frame / rate)

A frame is `/VMC/Ext/OK`, `/VMC/Ext/T`, `/VMC/Ext/Root/Pos`, a `/VMC/Ext/Bone/Pos` for each bone, a `/VMC/Ext/Blend/Val`
for each shape, and `/VMC/Ext/Blend/Apply`, in bundles that fit a packet. All shapes are sent in each frame, as
receivers forget those that were not sent. The protocol has no scales.

**Handedness.** VMC's numbers are Unity's: metres, Y up, +Z forward and +X to the *right*. Ours have +X to the left of a
character that looks along +Z, so x is mirrored:

    p = (-x, y, z)        q = (x, -y, -z, w)

A character that looks along -Z (VRM 0) has z mirrored instead, (x, y, -z) and (-x, -y, z, w), and looks along +Z too.

**Humans** are sent as Unity's humanoid: bones under Unity's names, each turned from its rest pose in the axes of the
world, as if every joint had no rotation at rest. With W a joint's rotation in the world, B the same at rest, and h the
next bone above,

    N = W B^-1        sent: N_h^-1 N,  N_h^-1 (p - p_h)

Receivers apply this to any VRM avatar. It assumes that the rest pose is near to a T-pose.

**Other characters** are sent as they are: every joint under its own name, in its parent.

**OSC 1.0**, as far as sending needs it: a message is its address, a text of type tags and the arguments, each padded
with zeros to four bytes, numbers big-endian. A bundle is `#bundle`, a time tag (1: at once) and messages with their
sizes. A library would be slower than the rest of a frame: each frame sends hundreds of messages, of which all but the
last bytes stay the same.

Reference: protocol.vmc.info, version 3.1.
"""

from __future__ import annotations

import socket
import struct
import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from understudy import checks
from understudy.character.body.bone_names import facing_axes, human_bones
from understudy.character.rig import DirectRig, LayeredRig, PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion

__all__ = ["VMC_PORT", "VmcPacker", "VmcStream"]

VMC_PORT = 39539  # default port of receivers ("Marionette" in the protocol)
# An Ethernet packet of 1,500 bytes without the headers of IP and UDP; larger ones are split and sooner lost.
MAX_PACKET_BYTES = 1472
LATE_SECONDS = 0.25  # delay after which the clock starts anew, instead of sending the late frames in a hurry
BLEND_KINDS = ("shapes", "controls")  # what a rig with controls sends as blend values
BUNDLE_HEADER = b"#bundle\0" + struct.pack(">Q", 1)
REQUIRED_HUMAN_BONES = ("Hips", "Head", "LeftUpperArm", "RightUpperArm", "LeftUpperLeg", "RightUpperLeg")


class VmcStream:
    """Sends rows to a receiver, each at its time where `paced`."""

    def __init__(
        self,
        host: str,
        port: int,
        rig: PosedRig,
        human: bool | None = None,
        blends: str = "shapes",
        paced: bool = True,
    ) -> None:
        self.packer = VmcPacker(rig, human, blends)
        self.host, self.port, self.paced = host, port, paced
        self._socket, self._address = _open_socket(host, port)
        self._start: float | None = None  # clock at time 0 of the performance

    def send(self, row: Array, time: float) -> int:
        """Send a row (C,) of the rig at `time` seconds of the performance; returns the number of packets."""
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
        if self._start is None or now > self._start + time + LATE_SECONDS:
            self._start = now - time
        left = self._start + time - now
        if left > 0:
            clock.sleep(left)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> VmcStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _open_socket(host: str, port: int) -> tuple[socket.socket, tuple[str, int]]:
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
        raise InvalidInput(f"the port should be a whole number from 1 to 65535 (VMC's is {VMC_PORT}), but is {port!r}")
    if not isinstance(host, str) or not host.strip():
        raise InvalidInput(f"the host should be a name or an address such as 127.0.0.1, but is {host!r}")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"host {host!r} cannot be found: {reason}") from None
    # most receivers listen on IPv4 alone, and `localhost` often resolves to IPv6 first
    family, kind, _, _, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    return socket.socket(family, kind), (str(address[0]), int(address[1]))


class VmcPacker:
    """Makes the packets of a frame. The constant part of each message is made once.

    `blends` says what a rig with controls sends as blend values: the weights of its shapes, for a receiver that has the
    exported character, or the controls themselves.
    """

    def __init__(self, rig: PosedRig, human: bool | None = None, blends: str = "shapes") -> None:
        self.rig, self.blends = rig, checks.one_of(blends, "kind of blend values", BLEND_KINDS)
        self.bones = VmcBones.from_rig(rig, human)
        self._bones = [message_prefix("/VMC/Ext/Bone/Pos", name, 7) for name in self.bones.names]
        self.blend_names, self._columns = _blend_columns(rig, blends)
        self._blends = [message_prefix("/VMC/Ext/Blend/Val", name, 1) for name in self.blend_names]
        self._ok = encode_message("/VMC/Ext/OK", 1)
        self._root = encode_message("/VMC/Ext/Root/Pos", "root", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        self._apply = encode_message("/VMC/Ext/Blend/Apply")

    def packets(self, row: Array, time: float) -> Iterator[bytes]:
        """The packets of a row (C,) at a time in seconds."""
        return bundles(self._messages(row, time))

    def _messages(self, row: Array, time: float) -> Iterator[bytes]:
        yield self._ok
        yield encode_message("/VMC/Ext/T", float(time))
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


def _blend_columns(rig: PosedRig, blends: str) -> tuple[tuple[str, ...], Array]:
    """The names of the blend values, and their columns (B,) of a row (none for the shapes of a rig with controls)."""
    if isinstance(rig, LayeredRig):
        if blends == "shapes":
            return rig.layers.shapes.names, np.zeros(0, np.int64)
        return rig.controls.names, np.arange(len(rig.controls))
    columns: dict[str, int] = {}
    for number, channel in enumerate(rig.channels):
        if channel.kind == "weights":
            for i, name in enumerate(channel.columns):
                columns.setdefault(name, int(rig.channels.offsets[number]) + i)
    return tuple(columns), np.array(list(columns.values()), np.int64)


@dataclass(frozen=True, eq=False)
class VmcBones:
    """The bones that are sent of a rig: a name for each joint, and the joint that it is relative to (-1: the world)."""

    rig: PosedRig
    names: tuple[str, ...]  # J
    parents: Array  # (J,)
    human: bool
    mirror: int  # the axis that is mirrored
    _rest_turns: Array  # (J, 4) B

    @classmethod
    def from_rig(cls, rig: PosedRig, human: bool | None = None) -> VmcBones:
        """The bones of a rig; `human` None decides by the bones' names, False sends every joint as it is."""
        skeleton = rig.character.skeleton
        bones = human_bones(rig.character)
        if human is None:
            human = all(name in bones for name in REQUIRED_HUMAN_BONES)
        names, parents = list(skeleton.names), skeleton.parents.copy()
        if human:
            known = set(bones.values())
            names = [f"{name}.joint" if name in bones else name for name in names]  # taken by another bone
            for name, joint in bones.items():
                names[joint] = name
                parents[joint] = next((above for above in skeleton.ancestors(joint)[1:] if above in known), -1)
        mirror = 2 if facing_axes(rig)[2, 2] < 0 else 0
        rest = _world_rotations(rig.joints(rig.rest[None])[0])
        return cls(rig, tuple(names), parents, human, mirror, rest)

    def poses(self, row: Array) -> tuple[Array, Array]:
        """Positions (J, 3) and rotations (J, 4) for a row (C,), in Unity's coordinates."""
        places, turns = self._human_poses(row) if self.human else self._local_poses(row)
        return to_unity(places, turns, self.mirror)

    def _local_poses(self, row: Array) -> tuple[Array, Array]:
        if isinstance(self.rig, LayeredRig):
            translations, rotations, _ = self.rig.local_transforms(row[None])
            return translations[0], rotations[0]
        if isinstance(self.rig, DirectRig):
            local = row[: 10 * len(self.names)].reshape(-1, 10)
            return local[:, :3], local[:, 3:7]
        world = self.rig.joints(row[None])[0]
        return _to_parent_space(world[:, :3, 3], _world_rotations(world), self.parents)

    def _human_poses(self, row: Array) -> tuple[Array, Array]:
        world = self.rig.joints(row[None])[0]
        turned = quaternion.multiply(_world_rotations(world), quaternion.conjugate(self._rest_turns))  # N = W B^-1
        return _to_parent_space(world[:, :3, 3], turned, self.parents)


def to_unity(places: Array, turns: Array, mirror: int = 0) -> tuple[Array, Array]:
    """Positions (..., 3) and rotations (..., 4) mirrored along axis `mirror`; its own inverse."""
    signs = np.ones(3)
    signs[mirror] = -1.0
    # a rotation about the mirrored axis stays, those about the others reverse
    return places * signs, turns * np.append(-signs, 1.0)


def _world_rotations(world: Array) -> Array:
    """(J, 4) the rotations of transforms (J, 4, 4), without their scales."""
    linear = world[:, :3, :3]
    sizes = np.linalg.norm(linear, axis=1, keepdims=True)
    return quaternion.from_matrix(linear / np.where(sizes > 0, sizes, 1.0))


def _to_parent_space(places: Array, turns: Array, parents: Array) -> tuple[Array, Array]:
    """Positions and rotations in the world, relative to their parents."""
    above = np.maximum(parents, 0)
    inverse = np.where((parents < 0)[:, None], quaternion.IDENTITY, quaternion.conjugate(turns[above]))
    origin = np.where((parents < 0)[:, None], 0.0, places[above])
    return quaternion.rotate(inverse, places - origin), quaternion.multiply(inverse, turns)


def encode_string(text: str) -> bytes:
    """A text in UTF-8 (names may be Japanese) with a zero at its end, padded with zeros to four bytes."""
    raw = text.encode("utf-8").replace(b"\0", b"") + b"\0"
    return raw + b"\0" * (-len(raw) % 4)


def encode_message(address: str, *arguments: int | float | str) -> bytes:
    """One message."""
    tags, data = ",", b""
    for argument in arguments:
        if isinstance(argument, str):
            tags, data = tags + "s", data + encode_string(argument)
        elif isinstance(argument, int):
            tags, data = tags + "i", data + struct.pack(">i", argument)
        else:
            tags, data = tags + "f", data + struct.pack(">f", argument)
    return encode_string(address) + encode_string(tags) + data


def message_prefix(address: str, name: str, numbers: int) -> bytes:
    """A message of a name and `numbers` floats, without the floats."""
    return encode_string(address) + encode_string(",s" + "f" * numbers) + encode_string(name)


def bundles(messages: Iterable[bytes], most: int = MAX_PACKET_BYTES) -> Iterator[bytes]:
    """The messages in their order, in bundles of at most `most` bytes; a longer message has one to itself."""
    gathered, size = [BUNDLE_HEADER], len(BUNDLE_HEADER)
    for message in messages:
        if size + 4 + len(message) > most and len(gathered) > 1:
            yield b"".join(gathered)
            gathered, size = [BUNDLE_HEADER], len(BUNDLE_HEADER)
        gathered += [struct.pack(">i", len(message)), message]
        size += 4 + len(message)
    if len(gathered) > 1:
        yield b"".join(gathered)
