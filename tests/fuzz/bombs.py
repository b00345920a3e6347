"""Small files that ask for a great deal: made on purpose, each against one promise of a reader."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.fuzz.seeds import AMC, ASF, BVH, CSV, OBJ, USDA, c3d_bytes
from tests.fuzz.structured import BIN_CHUNK, CHUNK, HEADER, JSON_CHUNK

from understudy.formats.fbx.document import FbxNode
from understudy.formats.fbx.scene import encode

BILLION = 10**9
# What these say wrongly is not needed to read them, or is said again elsewhere; the other files have to be refused.
MAY_BE_READ = ("frames that run backwards.c3d", "a label of all dimensions.c3d", "no end of parameters.c3d")


def glb(document: dict[str, Any], binary: bytes = b"\0" * 64) -> bytes:
    """A sound container around any JSON."""
    text = json.dumps({"asset": {"version": "2.0"}, **document}).encode()
    text += b" " * (-len(text) % 4)
    body = CHUNK.pack(len(text), JSON_CHUNK) + text + CHUNK.pack(len(binary), BIN_CHUNK) + binary
    return HEADER.pack(b"glTF", 2, HEADER.size + len(body)) + body


def mesh(accessors: list[dict[str, Any]], primitives: list[dict[str, Any]], nodes: int = 1) -> dict[str, Any]:
    """One mesh, shown by a number of nodes."""
    return {
        "scenes": [{"nodes": list(range(nodes))}],
        "nodes": [{"mesh": 0}] * nodes,
        "meshes": [{"primitives": primitives}],
        "accessors": accessors,
        "bufferViews": [{"buffer": 0, "byteLength": 64}],
        "buffers": [{"byteLength": 64}],
    }


def vec3(count: int, **more: Any) -> dict[str, Any]:
    """An accessor that claims so many positions."""
    return {"componentType": 5126, "type": "VEC3", "count": count, **more}


def gltf_bombs() -> Iterator[tuple[str, bytes]]:
    """Counts without data, one thing used a million times, and JSON without an end."""
    position = [{"attributes": {"POSITION": 0}}]
    yield "a billion vertices of no data.glb", glb(mesh([vec3(BILLION)], position))
    yield "a billion vertices in 64 bytes.glb", glb(mesh([vec3(BILLION, bufferView=0)], position))
    yield (
        "a billion sparse vertices.glb",
        glb(
            mesh(
                [
                    vec3(
                        BILLION,
                        sparse={
                            "count": 1,
                            "indices": {"bufferView": 0, "componentType": 5125},
                            "values": {"bufferView": 0},
                        },
                    )
                ],
                position,
            )
        ),
    )
    yield "ten thousand primitives of a million vertices.glb", glb(mesh([vec3(10**6)], position * 10_000))
    yield "ten thousand nodes of a million vertices.glb", glb(mesh([vec3(10**6)], position, nodes=10_000))
    targets = [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 0}] * 10_000}]
    yield "ten thousand shapes of a million vertices.glb", glb(mesh([vec3(10**6)], targets))
    indexed = [{"attributes": {"POSITION": 0}, "indices": 1}]
    triangles = {"componentType": 5125, "type": "SCALAR", "count": 3 * BILLION}
    yield "a billion triangles.glb", glb(mesh([vec3(5, bufferView=0), triangles], indexed))
    terabyte = {"bufferViews": [{"buffer": 0, "byteLength": 10**12}], "buffers": [{"byteLength": 10**12}]}
    yield "a buffer of a terabyte.glb", glb(mesh([vec3(3, bufferView=0)], position) | terabyte)
    yield (
        "a device as a buffer.gltf",
        json.dumps(
            {"asset": {"version": "2.0"}}
            | mesh([vec3(3, bufferView=0)], position)
            | {"buffers": [{"byteLength": 64, "uri": "/dev/zero"}]}
        ).encode(),
    )
    yield "deep JSON.gltf", b'{"asset": {"version": "2.0"}, "extras": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    yield "deep JSON.glb", HEADER.pack(b"glTF", 2, 400_020) + CHUNK.pack(400_000, JSON_CHUNK) + b"[" * 400_000
    yield (
        "a chunk of four gigabytes.glb",
        HEADER.pack(b"glTF", 2, 28) + CHUNK.pack(0xFFFFFFFF, JSON_CHUNK) + b"{}      ",
    )
    yield "a number of a million digits.gltf", b'{"asset": {"version": "2.0"}, "scene": ' + b"9" * 10**6 + b"}"
    ring = [{"children": [1]}, {"children": [2]}, {"children": [0]}]
    yield (
        "nodes in a ring.gltf",
        json.dumps({"asset": {"version": "2.0"}, "nodes": ring, "scenes": [{"nodes": [0]}]}).encode(),
    )


def text_bombs() -> Iterator[tuple[str, bytes]]:
    """Claims and depths in the formats that are text."""
    yield "a billion frames.bvh", BVH.replace("Frames: 3", f"Frames: {BILLION}").encode()
    yield "frames beyond any integer.bvh", BVH.replace("Frames: 3", "Frames: " + "9" * 5000).encode()
    yield "a billion channels.bvh", BVH.replace("CHANNELS 3", f"CHANNELS {BILLION}").encode()
    depth = 100_000
    joint = "JOINT j{0}\n{{\nOFFSET 0 0 0\nCHANNELS 0\n"
    yield (
        "deep hierarchy.bvh",
        (
            "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 0\n"
            + "".join(joint.format(i) for i in range(depth))
            + "}\n" * (depth + 1)
        ).encode(),
    )
    yield "a long word.bvh", BVH.replace("Chest", "C" * 5_000_000).replace("Frames: 3", "Frames: x").encode()
    yield "no numbers.bvh", (BVH[: BVH.index("Frames")] + "Frames: 100000\nFrame Time: 0.01\n" + "- " * 10**6).encode()
    yield "a bone below itself.asf", ASF.replace("thigh shin", "thigh shin\n    shin thigh").encode()
    yield "a body of infinite length.asf", ASF.replace("7.2", "1e400").encode()
    yield "a frame number of a billion.amc", AMC.replace("\n2\n", f"\n{BILLION}\n").encode()
    yield "a corner beyond all vertices.obj", OBJ.replace("f 3 4 5", f"f 3 4 {BILLION}").encode()
    yield "a corner before all vertices.obj", OBJ.replace("f 3 4 5", f"f 3 4 -{BILLION}").encode()
    yield "a corner beyond any integer.obj", OBJ.replace("f 3 4 5", "f 3 4 " + "9" * 5000).encode()
    yield (
        "frames a day apart and a rate beyond reason.csv",
        CSV.replace("10:00:00:04.000", f"{BILLION}:00:00:00").encode(),
    )
    yield "no frame.csv", CSV.splitlines()[0].encode()


def usd_bombs() -> Iterator[tuple[str, bytes]]:
    """Claims, time ranges and references in the text form of USD."""
    yield "a face of a billion corners.usda", USDA.replace("[3, 4]", f"[{BILLION}]").encode()
    yield "a joint beyond all joints.usda", USDA.replace("[0, 0, 0, 0, 1]", f"[0, 0, 0, 0, {BILLION}]").encode()
    yield "a vertex beyond all vertices.usda", USDA.replace("[0, 1, 2, 0", f"[{BILLION}, 1, 2, 0").encode()
    yield "a billion influences.usda", USDA.replace("elementSize = 1", f"elementSize = {BILLION}").encode()


def npz_bombs() -> Iterator[tuple[str, bytes]]:
    """A zip that inflates without end, headers that lie, and pickles."""
    yield "two gigabytes of zeros.npz", inflating_zip("vertices.npy", 32)
    for name, kind, shape in (
        ("a billion frames", "'<f4'", f"({BILLION}, 5, 3)"),
        ("names of a billion letters", f"'<U{BILLION}'", "(5,)"),
        ("more than an integer holds", "'<f4'", "(9223372036854775807, 9223372036854775807)"),
        ("objects", "'|O'", "(1,)"),
    ):
        header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for member in ("times.npy", "joint_names.npy", "joints.npy", "vertices.npy", "triangles.npy"):
                archive.writestr(member, array)
        yield f"{name}.npz", stream.getvalue()


def inflating_zip(member: str, blocks: int) -> bytes:
    """A zip with one array of `blocks` times 64 MB of zeros; the same compressed block again and again, in 2 MB."""
    size = 64 << 20
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 3), }\n" % (blocks * size // 12)
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)  # after a full flush it stands for itself
    packed += block * blocks + zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    total = len(head) + blocks * size
    name = member.encode()
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(packed), total, len(name), 0)
    local = b"PK\x03\x04" + fields + name + packed
    central = b"PK\x01\x02\x14\x00" + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + end


def c3d_bombs() -> Iterator[tuple[str, bytes]]:
    """Headers that claim more points, frames or parameters than there are."""
    sound = c3d_bytes()

    def with_bytes(*changes: tuple[int, bytes]) -> bytes:
        data = bytearray(sound)
        for at, value in changes:
            data[at : at + len(value)] = value
        return bytes(data)

    most = b"\xff\xff"
    used, frames = sound.index(b"USED") + 8, sound.index(b"FRAMES") + 10
    yield (
        "65,535 points in 65,535 frames.c3d",
        with_bytes((2, most), (6, b"\1\0"), (8, most), (used, most), (frames, most)),
    )
    yield "frames that run backwards.c3d", with_bytes((6, most), (8, b"\1\0"))
    yield "data beyond the end.c3d", with_bytes((16, most))
    yield "parameters beyond the end.c3d", with_bytes((0, b"\xff"))
    yield "a label of all dimensions.c3d", with_bytes((sound.index(b"LABELS") + 9, b"\7" + b"\xff" * 7))
    yield "no end of parameters.c3d", with_bytes((512 + 4, (b"\1\1A\0\0" * 100)))


def fbx_bombs() -> Iterator[tuple[str, bytes]]:
    """Arrays that inflate, one thing used many times, and nodes without an end."""
    zeros, names = np.zeros(50_000_000), "Name\0\1Geometry"

    def scene(objects: list[FbxNode], links: list[tuple[int, int]]) -> bytes:
        connections = [FbxNode("C", ["OO", a, b]) for a, b in links]
        return encode([FbxNode("Objects", [], objects), FbxNode("Connections", [], connections)])

    model = FbxNode("Model", [1, "m\0\1Model", "Mesh"])
    mesh = FbxNode("Geometry", [2, names, "Mesh"], [FbxNode("Vertices", [zeros])])
    yield "fifty million vertices.fbx", scene([model, mesh], [(1, 0), (2, 1)])
    million = FbxNode("Geometry", [2, names, "Mesh"], [FbxNode("Vertices", [np.zeros(3_000_000)])])
    shapes = [FbxNode("Deformer", [3, "s\0\1Deformer", "BlendShape"])]
    links = [(1, 0), (2, 1), (3, 2)]
    for i in range(1000):
        shapes += [
            FbxNode("Deformer", [10 + 2 * i, f"{i}\0\1SubDeformer", "BlendShapeChannel"]),
            FbxNode("Geometry", [11 + 2 * i, f"{i}\0\1Geometry", "Shape"]),
        ]
        links += [(10 + 2 * i, 3), (11 + 2 * i, 10 + 2 * i)]
    yield "a thousand shapes of a million vertices.fbx", scene([model, million, *shapes], links)
    models = [FbxNode("Model", [10 + i, f"{i}\0\1Model", "Mesh"]) for i in range(1000)]
    worn = [(10 + i, 0) for i in range(1000)] + [(2, 10 + i) for i in range(1000)]
    yield "a thousand nodes of a million vertices.fbx", scene([million, *models], worn)
    node = FbxNode("deep")
    for _ in range(200):
        node = FbxNode("deep", [], [node])
    yield "deep nodes.fbx", encode([node])
    yield "deep text.fbx", b"FBXHeaderExtension: {\n" + b"a: {\n" * 200_000
    yield "an array of a billion.fbx", b"FBXHeaderExtension: {\nFBXVersion: 7400\n}\na: *1000000000 {\na: 1"
    yield "a node of four gigabytes.fbx", encode([FbxNode("x", [1])])[:27] + b"\xff" * 12 + b"\x01x"


def bombs() -> list[tuple[str, bytes]]:
    """All of them: a name with its ending, and the file."""
    makers: tuple[Callable[[], Iterator[tuple[str, bytes]]], ...] = (
        *(gltf_bombs, text_bombs, usd_bombs, npz_bombs, c3d_bombs, fbx_bombs),
    )
    return [bomb for make in makers for bomb in make()]
