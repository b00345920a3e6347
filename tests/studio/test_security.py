"""Who may come in, and which files may be opened."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from understudy.errors import InvalidInput
from understudy.studio.security import AccessPolicy, AllowedFolders, is_loopback

HERE = {"host": "127.0.0.1:7860"}
TOKEN = AccessPolicy("0.0.0.0", "right")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.5.5.5"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host) and AccessPolicy.for_host(host).token == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "example.org", "::", "", "127.0.0.1.evil.org"])
def test_another_machine_needs_a_token(host: str) -> None:
    assert not is_loopback(host) and len(AccessPolicy.for_host(host).token) >= 24
    assert AccessPolicy.for_host(host).token != AccessPolicy.for_host(host).token


@pytest.mark.parametrize(
    ("policy", "headers", "given", "lets"),
    [
        (AccessPolicy(), HERE, "", True),
        (AccessPolicy(), {"host": "localhost:7860", "origin": "http://localhost:7860"}, "", True),
        (AccessPolicy(), {"host": "evil.org"}, "", False),  # a name that was pointed at this machine
        (AccessPolicy(), {"host": "evil.org", "origin": "http://evil.org"}, "", False),
        (AccessPolicy(), {}, "", False),
        (AccessPolicy(), {"host": "[::1]:7860", "origin": "http://[::1]:7860"}, "", True),
        (AccessPolicy(), {"host": "[::1"}, "", False),
        (AccessPolicy(), {"host": "127.0.0.1@evil.org"}, "", False),
        (AccessPolicy(), {**HERE, "origin": "http://["}, "", False),
        (AccessPolicy(), {**HERE, "origin": "file://127.0.0.1:7860"}, "", False),
        (AccessPolicy(), {**HERE, "origin": "http://evil.org"}, "", False),
        (AccessPolicy(), {**HERE, "origin": "http://127.0.0.1:9999"}, "", False),
        (AccessPolicy(), {**HERE, "origin": "null"}, "", False),
        (TOKEN, {"host": "studio:7860"}, "right", True),
        (TOKEN, {"host": "studio:7860"}, "wrong", False),
        (TOKEN, {"host": "studio:7860"}, "", False),
        (TOKEN, {"host": "studio:7860"}, "rïght", False),
        (TOKEN, {"host": "127.0.0.1:7860"}, "", False),
        (TOKEN, {"host": "studio:7860", "origin": "http://evil.org"}, "right", False),
        (TOKEN, {"host": "studio:7860", "origin": "http://studio:7860"}, "right", True),
    ],
)
@pytest.mark.parametrize("acts", [False, True])
def test_the_access_policy(policy: AccessPolicy, headers: dict[str, str], given: str, lets: bool, acts: bool) -> None:
    assert (policy.refuses(headers, acts, given) == "") == lets


@pytest.mark.parametrize(
    ("site", "lets"), [("cross-site", False), ("same-site", False), ("same-origin", True), ("none", True)]
)
def test_another_site_without_an_origin(site: str, lets: bool) -> None:
    assert (AccessPolicy().refuses({**HERE, "sec-fetch-site": site}, True, "") == "") == lets


@pytest.fixture
def folders(tmp_path: Path) -> AllowedFolders:
    """One opened folder with a file in it, and a secret beside it."""
    (tmp_path / "open" / "inner").mkdir(parents=True)
    for name in ("open/walk.bvh", "open/inner/run.bvh", "secret.bvh"):
        (tmp_path / name).write_text(name)
    (tmp_path / "open" / "way_out.bvh").symlink_to(tmp_path / "secret.bvh")
    (tmp_path / "open" / "up").symlink_to(tmp_path)
    (tmp_path / "open" / "round").symlink_to(tmp_path / "open" / "round")
    found = AllowedFolders()
    found.allow([tmp_path / "open" / "walk.bvh"])
    return found


def test_files_below_the_opened_folders(folders: AllowedFolders, tmp_path: Path) -> None:
    assert folders.find("walk.bvh").name == "walk.bvh"
    assert folders.find("inner/run.bvh").name == "run.bvh"
    assert folders.find("inner/../walk.bvh").name == "walk.bvh"
    assert folders.find(str(tmp_path / "open" / "walk.bvh")).name == "walk.bvh"


def hostile_path(seed: int, secret: str) -> str:
    """A path that leads out, or nowhere."""
    rng = random.Random(seed)
    parts = [
        "..",
        ".",
        "",
        "up",
        "inner",
        "way_out.bvh",
        "secret.bvh",
        "etc",
        "passwd",
        "~",
        "%2e%2e",
        "..\\..",
        "\0",
        "round",
    ]
    fixed = [
        "../secret.bvh",
        "up/secret.bvh",
        "way_out.bvh",
        secret,
        "/etc/passwd",
        "",
        ".",
        "..",
        "/",
        "round",
        "walk.bvh\0.glb",
    ]
    fixed += [
        "file:///etc/passwd",
        "\\\\server\\share",
        "C:\\Windows\\win.ini",
        "a" * 5000,
        "x/" * 2000,
        "CON",
        "~root/x",
        "\ud800",
    ]
    if seed < len(fixed):
        return fixed[seed]
    lead = rng.choice(["", "/", "inner/", "../"])
    return lead + "/".join(rng.choice(parts) for _ in range(rng.randrange(1, 9)))


def test_two_hundred_hostile_paths(folders: AllowedFolders, tmp_path: Path) -> None:
    for seed in range(200):
        name = hostile_path(seed, str(tmp_path / "secret.bvh"))
        with pytest.raises(InvalidInput) as found:
            folders.find(name)
        assert str(tmp_path) not in str(found.value) and len(str(found.value)) < 300


def test_without_folders_nothing_is_opened() -> None:
    with pytest.raises(InvalidInput):
        AllowedFolders().find("/etc/passwd")
