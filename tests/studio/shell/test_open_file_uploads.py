"""Uploads: several files at once, bounded, under plain names, and nothing is left of what cannot be opened."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.data_folder import data_file, field_file
from tests.fuzz.seeds import BVH, face_asset, small_asset
from tests.studio.talking import Studio

from understudy import formats
from understudy.errors import InvalidInput
from understudy.studio.shell import open_file
from understudy.studio.shell.open_file import plain_name


def post(studio: Studio, *files: tuple[str, bytes]) -> httpx.Response:
    return httpx.post(f"{studio.address}/upload", files=[("file", file) for file in files], timeout=60)


def separate(folder: Path) -> list[tuple[str, bytes]]:
    """The small character as a .gltf with its buffer beside it."""
    import base64
    import json

    formats.write(small_asset(), folder / "small.gltf")
    document = json.loads((folder / "small.gltf").read_text())
    data = base64.b64decode(document["buffers"][0]["uri"].partition(",")[2])
    document["buffers"][0]["uri"] = "small.bin"
    return [("small.gltf", json.dumps(document).encode()), ("small.bin", data)]


def stored(studio: Studio) -> set[str]:
    folder = studio.session.folder / "files"
    return {place.name for place in folder.rglob("*") if place.is_file()}


def test_a_gltf_with_its_buffer(studio: Studio, tmp_path: Path) -> None:
    answer = post(studio, *separate(tmp_path))
    assert answer.status_code == 200, answer.text
    (id,) = answer.json()["characters"]
    entry = studio.session.document.character(id)
    assert entry is not None and (entry.file, entry.joints, entry.vertices) == ("small.gltf", 2, 8)
    assert studio.session.document.stage.character == id
    assert {"small.gltf", "small.bin"} <= stored(studio)


def test_characters_come_before_motion(studio: Studio, tmp_path: Path) -> None:
    formats.write(small_asset(), tmp_path / "small.glb")
    formats.write(face_asset(), tmp_path / "a_take.csv")
    files = [(name, (tmp_path / name).read_bytes()) for name in ("a_take.csv", "small.glb")]
    answer = post(studio, *files)
    assert answer.status_code == 200, answer.text
    entry = studio.session.document.character(answer.json()["characters"][0])
    assert entry is not None and [clip.name for clip in entry.clips] == ["act", "a_take"]
    rig, animation = studio.session.assets.get(entry.id).rig, studio.session.assets.animation(entry, entry.clips[1])
    jaw = rig.channels.slice("body", "weights")
    np.testing.assert_allclose(rig.pose(animation)[0, jaw], [0, 1], atol=1e-3)


def test_one_that_is_broken_does_not_stop_the_others(studio: Studio) -> None:
    with studio.page() as page:
        answer = post(studio, ("walk.bvh", BVH.encode()), ("broken.glb", b"glTF nothing"))
        assert answer.status_code == 200 and len(answer.json()["characters"]) == 1
        notice = page.until(lambda event: event["kind"] == "notice")
        assert "broken.glb" in notice["sentence"] and str(studio.session.folder) not in notice["sentence"]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([("broken.glb", b"glTF nothing")], "broken.glb"),
        ([("x.exe", b"MZ")], "x.exe cannot be opened"),
        ([("only.bin", b"x")], "only.bin cannot be opened"),
        ([("..", b"x")], "cannot be the name"),
        ([("a.bvh", b""), ("b/a.bvh", b"")], "two files a.bvh"),
    ],
)
def test_what_cannot_be_opened_leaves_nothing(studio: Studio, files: list[tuple[str, bytes]], sentence: str) -> None:
    before, known = studio.session.document, stored(studio)
    answer = post(studio, *files)
    assert answer.status_code == 400 and sentence in answer.json()["sentence"]
    assert str(studio.session.folder) not in answer.text
    assert studio.session.document == before and stored(studio) == known


def test_a_full_disk_is_one_sentence(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(place: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("understudy.files.flush_to_disk", fail)
    before = stored(studio)
    answer = post(studio, ("walk.bvh", BVH))
    assert answer.status_code == 400 and "cannot be stored: No space left" in answer.json()["sentence"]
    assert stored(studio) == before


def test_no_form_at_all(studio: Studio) -> None:
    for content, kind in (
        (b"x", "text/plain"),
        (b"", "multipart/form-data"),
        (b"x" * 100, "multipart/form-data; boundary=x"),
    ):
        answer = httpx.post(f"{studio.address}/upload", content=content, headers={"content-type": kind})
        assert answer.status_code == 400 and "Traceback" not in answer.text
    assert httpx.get(f"{studio.address}/upload").status_code == 405


def test_sizes_are_bounded_while_they_arrive(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_file, "MAX_UPLOAD_BYTES", 1 << 20)
    assert "at most 1 MB" in post(studio, ("large.bvh", b"x" * (2 << 20))).json()["sentence"]

    async def blocks() -> None:
        async def endless():  # type: ignore[no-untyped-def]
            while True:
                yield b"x" * 1000

        async for _ in open_file.limit_stream(endless(), 10_000):
            pass

    import asyncio

    with pytest.raises(InvalidInput, match="at most"):
        asyncio.run(blocks())
    many = [(f"{number}.bvh", b"x") for number in range(open_file.MAX_UPLOAD_FILES + 1)]
    assert post(studio, *many).status_code == 400
    monkeypatch.setattr(open_file, "MAX_ALL_UPLOADS_BYTES", 10)
    assert "a project should hold" in post(studio, ("large.bvh", b"x" * 100)).json()["sentence"]


def hostile_upload(seed: int) -> tuple[str, bytes]:
    """A name that leads elsewhere, or a file that is not what its name says."""
    rng = random.Random(seed)
    names = [
        "../../x.bvh",
        "/etc/passwd",
        "C:\\x\\y.glb",
        "a\0b.glb",
        "con.glb",
        ".glb",
        "x",
        "ü" * 300 + ".bvh",
        "a/b/c.csv",
    ]
    names += [
        "<b>.glb",
        "x.gltf",
        "x.glb",
        "x.bvh",
        "x.c3d",
        "x.csv",
        "x.npz",
        "x.obj",
        "x.curves.json",
        "x.amc",
    ]
    sound = [
        BVH.encode(),
        b"glTF" + bytes(60),
        b'{"asset":{"version":"2.0"},"buffers":[{"uri":"../../../../etc/passwd"}]}',
    ]
    sound += [
        b'{"asset":{"version":"2.0"},"buffers":[{"uri":"http://evil.org/x","byteLength":9}]}',
        b"PK\3\4" + bytes(50),
    ]
    data = bytearray(rng.choice(sound))
    for _ in range(rng.randrange(1, 30)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    name = "x.usda" if seed % 100 == 0 else rng.choice(names)  # a process each for USD
    return name, bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)


@pytest.mark.long
def test_two_hundred_hostile_uploads(studio: Studio) -> None:
    def around() -> set[str]:
        return {place.name for place in studio.session.folder.parent.iterdir()}

    before, outside = studio.session.document.characters, around()
    opened: set[str] = set()
    with httpx.Client(base_url=studio.address, timeout=60) as client:
        for seed in range(200):
            answer = client.post("/upload", files=[("file", hostile_upload(seed))])
            assert answer.status_code in (200, 400), answer.text
            assert str(studio.session.folder) not in answer.text and "Traceback" not in answer.text
            opened |= set(answer.json().get("characters", ()))
    now = studio.session.document.characters
    assert now[: len(before)] == before and {entry.id for entry in now[len(before) :]} == opened
    assert around() == outside, "something was written outside the project"
    with studio.page() as page:
        assert page.ask("ping")["seconds"] > 0


@pytest.mark.parametrize(
    "uri", ["../../project.json", "/etc/passwd", "file:///etc/passwd", "%2e%2e/%2e%2e/project.json"]
)
def test_a_file_cannot_reach_beyond_its_folder(studio: Studio, tmp_path: Path, uri: str) -> None:
    import json

    (name, text), _ = separate(tmp_path)
    document = json.loads(text)
    document["buffers"][0]["uri"] = uri
    answer = post(studio, (name, json.dumps(document).encode()))
    assert answer.status_code == 400 and "small.gltf" in answer.json()["sentence"]
    assert any(words in answer.json()["sentence"] for words in ("beside", "outside its own folder"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("walk.bvh", "walk.bvh"),
        ("a/b/../walk.bvh", "walk.bvh"),
        ("C:\\films\\walk.bvh", "walk.bvh"),
        ("wa:lk?.glb", "wa_lk_.glb"),
        (" .walk.glb. ", "walk.glb"),
        ("e\u0301.glb", "é.glb"),
        ("x" * 500 + ".curves.json", None),
    ],
)
def test_names_are_made_plain(given: str, kept: str | None) -> None:
    found = plain_name(given)
    assert found == kept if kept else len(found) < 130


@pytest.mark.parametrize("name", ["", ".", "..", "glb", ".glb", "nul.glb", "a/", "COM1.bvh", "\0"])
def test_names_that_nothing_can_have(name: str) -> None:
    with pytest.raises(InvalidInput):
        plain_name(name)


def test_real_files_of_every_kind(studio: Studio) -> None:
    names = ["gltf_khronos/Fox.glb", "bvh_cmu/09_01.bvh"]
    files = [(Path(name).name, data_file(name).read_bytes()) for name in names]
    c3d = sorted(data_file("c3d_btk").rglob("*.c3d"), key=lambda path: path.stat().st_size)[0]
    answer = post(studio, *files, (c3d.name, c3d.read_bytes()))
    assert answer.status_code == 200 and len(answer.json()["characters"]) >= 2, answer.text
    for id in answer.json()["characters"]:
        assert httpx.get(f"{studio.address}/stage/{id}").status_code == 200


@pytest.mark.long
def test_files_of_other_tools_open_and_leave_in_their_own_formats(studio: Studio) -> None:
    """FBX, VRM, VRM animations, Draco and meshopt with their buffers; an avatar leaves as VRM, VRMA and FBX."""
    uploads_of = (
        ("fbx/Rat.fbx",),
        ("vrm/test.vrma",),
        ("compressed/RiggedFigure.draco.gltf", "compressed/RiggedFigure0.bin"),
        ("compressed/BrainStem.gltf", "compressed/BrainStem.bin"),
        ("glb/facecap.glb",),
        ("vrm/Godette.vrm",),
    )
    for names in uploads_of:
        answer = post(studio, *((Path(name).name, field_file(name).read_bytes()) for name in names))
        assert answer.status_code == 200 and answer.json()["characters"], (names, answer.text)
        for id in answer.json()["characters"]:
            assert httpx.get(f"{studio.address}/stage/{id}", timeout=60).status_code == 200, names
    with studio.page() as page:
        for ending in (".vrm", ".fbx", ".glb"):
            exported = page.ask("export", what="character", target=id, format=ending)
            assert httpx.get(f"{studio.address}{exported['url']}").status_code == 200
