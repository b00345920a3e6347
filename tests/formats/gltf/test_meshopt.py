"""meshopt: our decoder against the library's own bytes, on every mode, version and filter, and on damaged bytes."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.data_folder import field_file
from tests.formats.gltf.minimal import TRIANGLE, Minimal, one_triangle
from tests.judges.node import run_script

from understudy.character.rig import DirectRig
from understudy.errors import BadFile, FileError
from understudy.formats import gltf, read
from understudy.formats.gltf import meshopt
from understudy.formats.gltf.json_object import JsonObject

# Bytes of the library (MIT), one for each branch of the bitstreams, so that these laws hold without Node as well.
KNOWN = [
    # attributes, version 0: pairs of bits, fours of bits, and whole bytes; 16 elements of 4 bytes
    (
        {"mode": "ATTRIBUTES", "count": 16, "byteStride": 4},
        "a000012aaaaaaa0204444444444444440300101010101010101010101010101010" + "00" * 32,
        bytes(x for i in range(16) for x in (0, i, 2 * i, 8 * i)),
    ),
    # version 1: controls, 16-bit differences
    (
        {"mode": "ATTRIBUTES", "count": 16, "byteStride": 8},
        "a19999012aaaaaaa0204444444433333330206666666666666660208888888877777770000000000000000000000000000f800f800"
        "f000f0000101",
        np.array(
            [[248 + i, 248 + 2 * min(i, 8) - 2 * max(i - 8, 0), 240 + 3 * i, 240 + 4 * min(i, 8) - 4 * max(i - 8, 0)]
             for i in range(16)],
            "<u2",
        ).tobytes(),
    ),
    # version 1: exclusive or, rotated
    (
        {"mode": "ATTRIBUTES", "count": 4, "byteStride": 16},
        "a1ababfaff0002020200a5c23a00abf95700954285 00ddca6d00ac1a50005c99fe004d0c39000000000000000070000000008007"
        "0c22263b8600001200".replace(" ", ""),
        np.array(
            [0, 112, 201818112, 2252023330, 1, 29, 1188167680, 1600748723, 2, 126, 1739489280, 1696368920, 3, 155,
             621084672, 1218163169],
            "<u4",
        ).tobytes(),
    ),
    # triangles of versions 0 and 1, and a restart
    (
        {"mode": "TRIANGLES", "count": 12, "byteStride": 2},
        "e0f010fefff00cff02020200768756677 8a986658968980169 0000".replace(" ", ""),
        np.array([0, 1, 2, 2, 1, 3, 4, 6, 5, 7, 8, 9], "<u2").tobytes(),
    ),
    (
        {"mode": "TRIANGLES", "count": 15, "byteStride": 4},
        "e1f010fe1f3d000a007687566778a9866589689801690000",
        np.array([0, 1, 2, 2, 1, 3, 0, 1, 2, 2, 1, 5, 2, 1, 4], "<u4").tobytes(),
    ),
    (
        {"mode": "INDICES", "count": 6, "byteStride": 4},
        "d10004cd010407981f00000000",
        np.array([0, 1, 51, 2, 49, 1000], "<u4").tobytes(),
    ),
]  # fmt: skip


def decode(encoded: bytes, **fields: object) -> bytes:
    return meshopt.decode(encoded, JsonObject(Path("x"), {"byteLength": len(encoded), **fields}, ("e",))).tobytes()


@pytest.mark.parametrize(("fields", "encoded", "expected"), KNOWN)
def test_known_bytes(fields: dict, encoded: str, expected: bytes) -> None:
    assert decode(bytes.fromhex(encoded), **fields) == expected


def jobs() -> list[dict]:
    """Arrays of every mode, version, size and filter; smooth, constant and noisy columns side by side."""
    rng = np.random.default_rng(1)
    result = []

    def add(data: np.ndarray, count: int, stride: int, mode: str, **more: object) -> None:
        text = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode()
        result.append({"data": text, "count": count, "stride": stride, "mode": mode, **more})

    for version in (0, 1):
        for stride in (4, 8, 12, 16, 64, 256):
            for count in (1, 15, 16, 17, 255, 256, 257, 1000):
                data = rng.integers(0, 256, (count, stride)).astype(np.uint8)
                data[:, ::3] = 7
                data[:, 1::4] = np.arange(count)[:, None] // 3
                add(data, count, stride, "ATTRIBUTES", version=version)
        for count in (5, 300):
            floats = rng.normal(size=(count, 4)).astype("<f4")
            unit = floats / np.linalg.norm(floats, axis=1, keepdims=True)
            vector = np.concatenate(
                [floats[:, :3] / np.linalg.norm(floats[:, :3], axis=1, keepdims=True), unit[:, :1]], 1
            )
            for stride, bits in ((4, 8), (8, 12)):
                add(vector.astype("<f4"), count, stride, "ATTRIBUTES", version=version, filter="OCTAHEDRAL", bits=bits)
                colour = rng.random((count, 4)).astype("<f4")
                add(colour, count, stride, "ATTRIBUTES", version=version, filter="COLOR", bits=bits)
            add(unit, count, 8, "ATTRIBUTES", version=version, filter="QUATERNION", bits=12)
            add(floats[:, :3] * 1e3, count, 12, "ATTRIBUTES", version=version, filter="EXPONENTIAL", bits=15)
    grid = np.arange(20 * 20).reshape(20, 20)
    quads = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]], -1)
    wild = rng.integers(0, 40_000, 3000)
    for dtype, stride in (("<u2", 2), ("<u4", 4)):
        for corners in (quads.reshape(-1), wild):
            add(corners.astype(dtype), len(corners), stride, "TRIANGLES")
            add(corners.astype(dtype), len(corners), stride, "INDICES")
    return result


def test_every_mode_version_and_filter_equals_the_library() -> None:
    orders = jobs()
    answers = run_script("meshopt.mjs", orders)
    for order, answer in zip(orders, answers, strict=True):
        fields = {"mode": order["mode"], "count": order["count"], "byteStride": order["stride"]}
        fields |= {"filter": order["filter"]} if "filter" in order else {}
        encoded, expected = base64.b64decode(answer["encoded"]), base64.b64decode(answer["decoded"])
        decoded = decode(encoded, **fields)
        about = {key: value for key, value in order.items() if key != "data"}
        if (
            order["mode"] == "TRIANGLES" or "filter" not in order or order["filter"] == "EXPONENTIAL"
        ):  # the encoder may begin a triangle at another corner; its decoder says which
            assert decoded == expected, about
        else:  # the library's filters compute in float32, ours in float64: they may round apart by one
            dtype = f"<{'u' if order['filter'] == 'COLOR' else 'i'}{order['stride'] // 4}"
            apart = np.frombuffer(decoded, dtype).astype(int) - np.frombuffer(expected, dtype).astype(int)
            assert np.abs(apart).max() <= 1, about


@pytest.mark.parametrize(("fields", "encoded", "expected"), KNOWN)
def test_damaged_bytes_are_refused_or_decoded_but_never_left(fields: dict, encoded: str, expected: bytes) -> None:
    """Cut, changed and random bytes: a sentence or an array of the right size."""
    sound = bytes.fromhex(encoded)
    rng = np.random.default_rng(3)
    cases = [sound[:n] for n in range(1, len(sound))]
    for _ in range(300):
        data = np.frombuffer(sound, np.uint8).copy()
        data[rng.integers(0, len(data), 3)] = rng.integers(0, 256, 3)
        cases.append(data.tobytes())
    cases += [sound[:1] + rng.integers(0, 256, n).astype(np.uint8).tobytes() for n in range(0, 200, 7)]
    refused = 0
    for case in cases:
        try:
            assert len(decode(case, **fields)) == len(expected)
        except BadFile as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > len(sound) // 2


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"mode": "MAGIC"}, "e.mode"),
        ({"filter": "SEPIA"}, "e.filter"),
        ({"byteStride": 3}, "e.byteStride"),
        ({"byteStride": 260}, "e.byteStride"),
        ({"filter": "QUATERNION"}, "e.byteStride"),
        ({"count": 0}, "e.count"),
        ({"count": 10**9}, "e.count"),
        ({"mode": "TRIANGLES", "byteStride": 2, "count": 16}, "e.count"),
        ({"mode": "TRIANGLES", "count": 15, "filter": "EXPONENTIAL"}, "e.filter"),
    ],
)
def test_wrong_fields_are_named(change: dict, place: str) -> None:
    fields, encoded, _ = KNOWN[0]
    with pytest.raises(BadFile) as caught:
        decode(bytes.fromhex(encoded), **{**fields, **change})
    assert caught.value.place == place


@pytest.mark.parametrize("extension", meshopt.EXTENSIONS)
def test_a_file_with_compressed_views(tmp_path: Path, extension: str) -> None:
    """A view of triangles, compressed, whose plain buffer is not in the file."""
    made = one_triangle()
    made.root["meshes"][0]["primitives"][0]["indices"] = made.add(
        "accessors", {"componentType": 5125, "type": "SCALAR", "count": 3, "bufferView": len(made.root["bufferViews"])}
    )
    encoded = bytes.fromhex(KNOWN[4][1])
    start = len(made.data)
    made.data += encoded
    compressed = {"buffer": 0, "byteOffset": start, "byteLength": len(encoded), "byteStride": 4}
    compressed |= {"mode": "TRIANGLES", "count": 15}
    made.add("bufferViews", {"buffer": 1, "byteLength": 60, "extensions": {extension: compressed}})
    fallback = {"byteLength": 60, "extensions": {extension: {"fallback": True}}}
    made.root["buffers"] = [{"byteLength": len(made.data)}, fallback]
    made.root |= {"extensionsUsed": [extension], "extensionsRequired": [extension]}
    asset = gltf.read(made.save(tmp_path, "made.glb"))
    assert asset.character().triangles.tolist() == [[0, 1, 2]] and asset.notes == ()
    made.root["bufferViews"][-1]["byteLength"] = 64
    with pytest.raises(FileError, match="15 elements of 4 bytes"):
        gltf.read(made.save(tmp_path, "long.glb"))


def test_brain_stem_equals_its_plain_twin() -> None:
    """Within the quantisation of gltfpack, at its own keys (it resamples at 30 Hz): 14 bits of positions."""
    packed, plain = (read(field_file(f"compressed/{name}")) for name in ("BrainStem.gltf", "BrainStem_plain.glb"))
    rigs = [DirectRig(asset.character()) for asset in (packed, plain)]
    assert len(packed.character().triangles) == len(plain.character().triangles)
    for frame in (0, 60, 333, 700):
        ours, theirs = (
            rig.vertices(rig.pose(asset.animations[0], np.array([frame / 30])))[0]
            for rig, asset in zip(rigs, (packed, plain))
        )
        size = np.ptp(theirs, axis=0).max()
        assert cKDTree(theirs).query(ours)[0].max() < 5e-4 * size
        assert cKDTree(ours).query(theirs)[0].max() < 5e-4 * size


def test_the_face_of_52_shapes_opens_and_keeps_its_picture(tmp_path: Path) -> None:
    asset = read(field_file("glb/facecap.glb"))
    (part,) = [part for part in asset.character().parts if part.mesh.shapes is not None]
    assert len(part.mesh.shapes) == 52 and len(asset.animations) == 4
    assert "pictures in KTX2 are kept as they are, but not drawn in pictures and films (1)" in asset.notes
    gltf.write(asset, tmp_path / "again.glb")
    again = read(tmp_path / "again.glb")

    def pictures(asset) -> set[bytes]:
        materials = [material for part in asset.character().parts for material in part.mesh.materials]
        return {texture.image.data for material in materials for texture in material.textures.values()}

    assert pictures(again) == pictures(asset) and len(pictures(asset)) == 1


def test_pictures_of_other_kinds_are_kept(tmp_path: Path) -> None:
    """A KTX2 picture is kept as bytes; where the file has a PNG as well, that is used."""
    ktx = b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(40)
    made = Minimal()
    mesh = made.mesh(TRIANGLE)
    primitive = made.root["meshes"][mesh]["primitives"][0]
    primitive["attributes"]["TEXCOORD_0"] = made.accessor(np.zeros((3, 2)), "VEC2")
    primitive["material"] = made.add("materials", {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    made.add("images", {"bufferView": made.view(ktx), "mimeType": "image/ktx2"})
    made.add("textures", {"extensions": {"KHR_texture_basisu": {"source": 0}}})
    made.add("nodes", {"mesh": mesh})
    made.root |= {"extensionsUsed": ["KHR_texture_basisu"], "extensionsRequired": ["KHR_texture_basisu"]}
    asset = gltf.read(made.save(tmp_path))
    image = asset.character().parts[0].mesh.materials[0].textures["colour"].image
    assert (image.mime, image.data) == ("image/ktx2", ktx)
    made.add("images", {"bufferView": made.view(b"\x89PNG\r\n\x1a\n"), "mimeType": "image/png"})
    made.root["textures"][0]["source"] = 1
    del made.root["buffers"]
    asset = gltf.read(made.save(tmp_path))
    assert asset.character().parts[0].mesh.materials[0].textures["colour"].image.mime == "image/png"
    assert "pictures that are there in a second format were left out (1)" in asset.notes
