"""Copies are found, mirrored and retimed too; other clips are not."""

from __future__ import annotations

import re

import numpy as np
from tests.cast.small_face import small_face

from assets.lint.acting import clip_distances, copies, motion_path
from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import of_controls
from understudy.cast.dope_sheet.tracks import control_curves
from understudy.character import Curves

CONTROLS = small_face()
FACE = of_controls(CONTROLS)
SHAKE = """eyes: 4>6 x=12 snap | 30>32 x=-9
head: 7>13 turn=20 arc=3 | 17>25 turn=-17 | 33>45 turn=6 roll=8 heavy
brows R+1: 9>13 raise=.9/.3 os=10:4 | 40>50 rest
"""
NOD = """eyes: 3>5 y=-8
head: 6>14 nod=12 | 18>30 nod=-6 | 36>40 nod=8 os=12:4
mouth L+1: 20>28 smile=.9/.5
"""


def clip(tracks: str, frames: int = 72, name: str = "a") -> Curves:
    return control_curves(parse(f"clip {name}\nframes {frames}\n{tracks}", "a.txt", FACE), FACE)


def retimed(tracks: str, pace: float) -> str:
    def later(found: re.Match[str]) -> str:
        return f"{pace * float(found[1]):.2f}>{pace * float(found[2]):.2f}"

    return re.sub(r"([\d.]+)>([\d.]+)", later, tracks)


def mirrored(tracks: str) -> str:
    swapped = re.sub(r"raise=([\d.]+)/([\d.]+)", r"raise=\2/\1", tracks.replace("R+1", "L+1"))
    return re.sub(r"(?<= )(x|turn|roll)=(-?)(\d+)", lambda f: f"{f[1]}={'' if f[2] else '-'}{f[3]}", swapped)


def test_a_clip_is_no_distance_from_itself_whatever_its_pace() -> None:
    one = motion_path(clip(SHAKE), CONTROLS)
    slow, other = motion_path(clip(retimed(SHAKE, 1.4), 100), CONTROLS), motion_path(clip(NOD), CONTROLS)
    same, slower, far = clip_distances(one, np.stack([one, slow, other]))
    assert same < 1e-6 and slower < 0.1 and far > 0.6
    there, back = clip_distances(one, other[None]), clip_distances(other, one[None])
    np.testing.assert_allclose(there, back, rtol=0.05)


def test_the_least_mean_distance_is_found_by_looking_at_every_way() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=(2, 6, 3))
    d = np.linalg.norm(one[:, None] - other[None], axis=2)

    def ways(a: int, b: int) -> list[list[float]]:
        if (a, b) == (0, 0):
            return [[d[0, 0]]]
        before = [(a - 1, b), (a, b - 1), (a - 1, b - 1)]
        return [[*way, d[a, b]] for i, j in before if i >= 0 and j >= 0 for way in ways(i, j)]

    best = min(ways(5, 5), key=sum)
    spread = np.mean([((p - p.mean(axis=0)) ** 2).sum(axis=1).mean() for p in (one, other)])
    np.testing.assert_allclose(clip_distances(one, other[None])[0], np.mean(best) / np.sqrt(spread))


def test_copies_are_named_with_what_was_done_to_them() -> None:
    cast = [
        clip(SHAKE, name="shake"),
        clip(NOD, name="nod"),
        clip(retimed(SHAKE, 1.3), 100, "slow"),
        clip(mirrored(SHAKE), name="mirror"),
    ]
    texts = [finding.text.partition(":")[0] for finding in copies(cast, CONTROLS)]
    assert texts == [
        "shake and slow are alike",
        "shake and mirror are alike, mirrored",
        "slow and mirror are alike, mirrored",
    ]
    assert all(finding.severity == "error" for finding in copies(cast, CONTROLS))


def test_none_and_one() -> None:
    assert copies([], CONTROLS) == [] and copies([clip(NOD)], CONTROLS) == []
