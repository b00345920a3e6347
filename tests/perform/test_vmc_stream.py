"""Live out: a real socket on this machine hears what was sent, read by another library."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest
from pythonosc.osc_packet import OscPacket
from tests.perform.layers.bodies import ARKIT, body
from tests.perform.test_vmc_bones import posed

from understudy import errors
from understudy.character.rig import LayeredRig
from understudy.maths import quaternion
from understudy.perform.vmc import VmcPacker, VmcStream


@pytest.fixture
def ear() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        heard.settimeout(5)
        yield heard


def heard(ear: socket.socket, packets: int) -> list[tuple[str, list]]:
    """Address and arguments of every message of so many packets."""
    result = []
    for _ in range(packets):
        data = ear.recv(65536)
        assert len(data) <= 1472
        result += [(timed.message.address, list(timed.message.params)) for timed in OscPacket(data).messages]
    return result


def test_a_person_arrives(ear: socket.socket) -> None:
    rig = body(seed=2, shapes=ARKIT)
    row = posed(rig)
    row[rig.channels.slice("Face", "weights")] = np.linspace(0, 1, len(ARKIT))
    with VmcStream("127.0.0.1", ear.getsockname()[1], rig) as stream:
        messages = heard(ear, stream.send(row, 1.25))
    assert messages[0] == ("/VMC/Ext/OK", [1]) and messages[1] == ("/VMC/Ext/T", [1.25])
    assert messages[2] == ("/VMC/Ext/Root/Pos", ["root", 0, 0, 0, 0, 0, 0, 1])
    assert messages[-1] == ("/VMC/Ext/Blend/Apply", [])
    places, turns = stream.packer.bones.poses(row)
    bones = {arguments[0]: arguments[1:] for address, arguments in messages if address == "/VMC/Ext/Bone/Pos"}
    assert list(bones) == list(stream.packer.bones.names)
    np.testing.assert_allclose(list(bones.values()), np.hstack([places, turns]), atol=1e-6)
    for numbers in bones.values():
        assert np.linalg.norm(numbers[3:]) == pytest.approx(1, abs=1e-6)
    blends = {arguments[0]: arguments[1] for address, arguments in messages if address == "/VMC/Ext/Blend/Val"}
    assert blends == pytest.approx(dict(zip(ARKIT, np.linspace(0, 1, len(ARKIT)))), abs=1e-6)


@pytest.mark.parametrize("blends", ["shapes", "controls"])
def test_the_dragon_arrives(ear: socket.socket, dragon: LayeredRig, blends: str) -> None:
    row = np.random.default_rng(1).uniform(dragon.controls.low, dragon.controls.high)
    with VmcStream("localhost", ear.getsockname()[1], dragon, blends=blends) as stream:
        messages = heard(ear, stream.send(row, 0.0))
    values = {arguments[0]: arguments[1] for address, arguments in messages if address == "/VMC/Ext/Blend/Val"}
    if blends == "controls":
        expected = dict(zip(dragon.controls.names, row))
    else:
        weights = dragon.parameters(row[None])[0, len(dragon.layers.components) :]
        expected = dict(zip(dragon.layers.shapes.names, weights))
    assert values == pytest.approx(expected, abs=1e-4)
    bones = {arguments[0]: arguments[1:] for address, arguments in messages if address == "/VMC/Ext/Bone/Pos"}
    _, turns, _ = dragon.local_transforms(row[None])
    jaw = dragon.character.skeleton.index("Jaw")
    x, y, z, w = turns[0, jaw]
    assert bones["Jaw"][3:] == pytest.approx([x, -y, -z, w], abs=1e-6)


def test_a_body_without_shapes_has_no_blends(ear: socket.socket) -> None:
    rig = body()
    with VmcStream("127.0.0.1", ear.getsockname()[1], rig) as stream:
        addresses = {address for address, _ in heard(ear, stream.send(rig.rest, 0.0))}
    assert "/VMC/Ext/Bone/Pos" in addresses and not any("Blend" in address for address in addresses)


def test_frames_wait_for_their_time(ear: socket.socket) -> None:
    rig = body()
    with VmcStream("127.0.0.1", ear.getsockname()[1], rig) as stream:
        start = time.perf_counter()
        for frame in range(4):
            stream.send(rig.rest, 7.0 + 0.05 * frame)  # whatever the first time is, it is now
        # no frame may come early; how late one comes is the machine's affair
        assert time.perf_counter() - start >= 0.15 - 1e-3


def test_a_late_performance_does_not_hurry(ear: socket.socket) -> None:
    rig = body()
    with VmcStream("127.0.0.1", ear.getsockname()[1], rig) as stream:
        stream.send(rig.rest, 0.0)
        time.sleep(0.5)
        stream.send(rig.rest, 0.1)  # 0.4 s late: the clock starts anew here
        start = time.perf_counter()
        stream.send(rig.rest, 0.2)
        assert time.perf_counter() - start > 0.05


def test_unpaced(ear: socket.socket) -> None:
    rig = body()
    with VmcStream("127.0.0.1", ear.getsockname()[1], rig, paced=False) as stream:
        stream.send(rig.rest, 0.0)
        count = stream.send(rig.rest, 3600.0)
    assert ("/VMC/Ext/T", [3600.0]) in heard(ear, 2 * count)


@pytest.mark.parametrize("port", [0, -1, 70000, "39539", 1.5, True])
def test_a_bad_port_is_one_sentence(port: object) -> None:
    with pytest.raises(errors.InvalidInput, match="port should be a whole number from 1 to 65535"):
        VmcStream("127.0.0.1", port, body())  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["", "no such host.invalid", "a" * 300, "\0"])
def test_a_bad_host_is_one_sentence(host: str) -> None:
    with pytest.raises(errors.InvalidInput, match="host") as caught:
        VmcStream(host, 39539, body())
    assert "\n" not in str(caught.value)


def test_bad_rows_and_blends() -> None:
    rig = body()
    with VmcStream("127.0.0.1", 39539, rig) as stream:
        with pytest.raises(errors.InvalidInput, match="a row to send"):
            stream.send(rig.rest[:-1], 0.0)
        with pytest.raises(errors.InvalidInput, match="finite"):
            stream.send(np.full_like(rig.rest, np.nan), 0.0)
    with pytest.raises(errors.InvalidInput, match="blend values 'morphs'"):
        VmcPacker(rig, blends="morphs")


def test_nobody_listening_is_no_error() -> None:
    rig = body()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with VmcStream("127.0.0.1", port, rig, paced=False) as stream:
        for frame in range(5):
            assert stream.send(rig.rest, frame / 24) > 0


def test_turns_are_right_for_a_known_pose() -> None:
    """The left arm of a T-pose lowered by 70 degrees: in Unity a positive turn about z, as +x is the right there."""
    rig = body()
    row = rig.rest.copy()
    arm = rig.channels.slice("LeftArm", "rotation")
    row[arm] = quaternion.from_axis_angle(np.array([0, 0, 1.0]), -np.radians(70))
    packer = VmcPacker(rig)
    _, turns = packer.bones.poses(row)
    turn = turns[packer.bones.names.index("LeftUpperArm")]
    np.testing.assert_allclose(turn, [0, 0, np.sin(np.radians(35)), np.cos(np.radians(35))], atol=1e-9)
