"""The pose library: enough poses, within ranges, of their own group, and faces that differ."""

from __future__ import annotations

import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest
from tests.cast.dragon import shipped

from assets.dragon.controls import REGIONS
from understudy import cast

SHARED = ("lids", "brows", "mouth", "rest_of_face", "ears_head_neck")  # the files of poses that any clip may use
ASKED = [
    "happy",
    "delighted",
    "laugh",
    "grumpy",
    "furious",
    "bored",
    "sleepy",
    "yawn",
    "curious",
    "sniffing",
    "suspicious",
    "neutral",
    "content",
    "alert",
    "roar",
    "snarl",
    "hiss",
    "surprised",
    "shocked",
    "scared",
    "sad",
    "sulky",
    "pleading",
    "disgusted",
    "smug",
    "skeptical",
    "thinking",
    "pout",
    "wink",
    "kiss",
    "dizzy",
    "brave",
]


@pytest.fixture(scope="module")
def poses() -> dict[str, np.ndarray]:
    return cast.poses("dragon", groups=True)


def test_there_are_enough(poses: dict[str, np.ndarray]) -> None:
    faces = [name for name in poses if "." not in name]
    assert len(poses) >= 60 and len(faces) >= 24
    assert set(ASKED) <= set(faces)


def test_all_are_within_ranges(poses: dict[str, np.ndarray]) -> None:
    controls = shipped.controls()
    for name, row in poses.items():
        assert ((row >= controls.low - 1e-9) & (row <= controls.high + 1e-9)).all(), name


def test_a_pose_of_a_group_touches_only_its_group_and_the_lattice(poses: dict[str, np.ndarray]) -> None:
    controls = shipped.controls()
    for name, row in poses.items():
        group = name.partition(".")[0]
        if "." in name:
            assert group in REGIONS
            touched = {controls.group(controls.names[i]) for i in np.flatnonzero(row != controls.rest)}
            assert touched <= {group, "lattice"}, name


def test_a_point_of_the_lattice_belongs_to_one_group() -> None:
    """Two tracks may not key one control; poses of different groups can then always be mixed."""
    owners: dict[str, set[str]] = {}
    folder = resources.files("understudy.cast") / "sheets" / "dragon" / "poses"
    for name in SHARED:
        for line in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            head = re.match(r"pose (\w+) ", line)
            for point in re.findall(r"lattice\.(\w+)[.=]", line) if head else ():
                owners.setdefault(point, set()).add(head[1])  # type: ignore[index]
    assert len(owners) > 50
    assert {point: groups for point, groups in owners.items() if len(groups) > 1} == {}


def test_most_controls_take_part(poses: dict[str, np.ndarray]) -> None:
    used = (np.stack(list(poses.values())) != shipped.controls().rest).any(axis=0)
    assert used.sum() > 0.75 * 742


def test_poses_and_faces_are_seen(poses: dict[str, np.ndarray]) -> None:
    vertices = shipped.rig().vertices(np.stack(list(poses.values())))
    largest = np.linalg.norm(vertices - shipped.rest(), axis=2).max(axis=1)
    still = [name for name, move in zip(poses, largest) if move < 2e-3 and name != "eyes.front"]
    assert still == []


def test_faces_differ_where_it_counts(poses: dict[str, np.ndarray]) -> None:
    """Head and neck at rest, every two of the six faces differ by a centimetre somewhere in the face."""
    controls = shipped.controls()
    six = ("happy", "grumpy", "bored", "curious", "surprised", "roar")
    rows = np.stack([poses[name] for name in six])
    body = [i for i, name in enumerate(controls.names) if controls.group(name) in ("head", "neck")]
    rows[:, body] = controls.rest[body]
    places = shipped.rig().vertices(rows)[:, [shipped.point(f"landmark_{i:02d}") for i in range(68)]]
    for a, b in combinations(range(len(six)), 2):
        assert np.linalg.norm(places[a] - places[b], axis=1).max() > 0.010, (six[a], six[b])
