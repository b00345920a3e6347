"""Keys and tangents: every kind of tangent against ufbx, which reads FBX as Autodesk's SDK does, and the two texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.formats.fbx.scenes import (
    AUTO,
    CLAMP,
    CONSTANT,
    LINEAR,
    PROGRESSIVE,
    TIME_INDEPENDENT,
    USER,
    FbxFile,
    keys,
)

from understudy.character import Curve
from understudy.character.curve import BEZIER, STEP
from understudy.formats import read

TIMES = (0.25, 0.5, 1.25, 1.5, 2.0, 3.0)  # seconds
VALUES = (1.0, -2.0, 3.0, 3.0, 0.5, 4.0)
PROBES = (0.375, 0.8, 1.1, 1.4, 1.75, 2.6)
WEIGHTED = 0x1000000 | 0x2000000
TCB = 0x8 | 0x200


def packed(leaving: float, arriving: float) -> np.float32:
    """Two weights in the bits of a float, as KeyAttrDataFloat has them."""
    bits = np.uint32(round(leaving * 1e4)) | (np.uint32(round(arriving * 1e4)) << np.uint32(16))
    return np.array([bits], np.uint32).view(np.float32)[0]


SLOPES = [[2.0, -1.0], [0.5, 3.0], [-4.0, 1.0], [0.0, -2.0], [6.0, 2.0], [1.0, 1.0]]
PLAIN = [[*slopes, 0.0, 0.0] for slopes in SLOPES]
WEIGHTS = [[*slopes, packed(0.1 + 0.15 * i, 0.9 - 0.12 * i), 0.0] for i, slopes in enumerate(SLOPES)]
BIASES = [[20.0 * slopes[0], 30.0 * slopes[1], 0.0, 0.0] for slopes in SLOPES]
TENSIONS = [[0.1 * slopes[0], 0.2 * slopes[1], 0.3, 0.0] for slopes in SLOPES]
NONE = [[0.0] * 4] * len(TIMES)

# The flags, the numbers of the keys, and what ufbx 0.0.5 gives at the probes.
TANGENTS = {
    "user": (USER, PLAIN, (-0.40625, -0.401999, 2.204, 2.868, 1.875, 3.056)),
    "weighted": (USER | WEIGHTED, WEIGHTS, (-1.47816, 0.626098, 2.469895, 2.865071, 1.970851, 3.498628)),
    "automatic": (AUTO, NONE, (-0.791666, -0.767999, 2.096, 3.17, 1.640625, 2.192)),
    "biased": (AUTO, BIASES, (-0.879166, -0.883199, 1.8304, 3.207, 1.48125, 2.6816)),
    "time independent": (AUTO | TIME_INDEPENDENT, NONE, (-0.9375, -0.384, 2.048, 3.24, 1.5, 2.328)),
    "clamped": (AUTO | CLAMP, NONE, (-0.791666, -0.527999, 2.416, 3.0, 1.796875, 2.192)),
    "progressive": (AUTO | PROGRESSIVE, NONE, (-0.5, -0.24, 2.48, 3.0, 1.75, 2.768)),
    "both": (AUTO | TIME_INDEPENDENT | PROGRESSIVE, NONE, (-0.5, -0.24, 2.48, 3.0, 1.75, 2.768)),
    "tcb": (TCB, TENSIONS, (-0.770208, -1.774126, 1.750816, 3.21252, 1.60275, 2.14976)),
    "constant": (CONSTANT, NONE, (1.0, -2.0, -2.0, 3.0, 3.0, 0.5)),
    "linear": (LINEAR, NONE, (-0.5, 0.0, 2.0, 3.0, 1.75, 2.6)),
}


def tangent_file(path: Path, ascii_text: bool = False) -> Path:
    """A node for each kind of tangent, which moves along x."""
    file = FbxFile()
    (layer,) = file.stack("take")
    for name, (flags, data, _) in TANGENTS.items():
        file.curves(layer, file.model(name), "Lcl Translation", {"X": keys(TIMES, VALUES, flags, data)}, Y=0.0, Z=0.0)
    return file.save(path, ascii_text)


@pytest.mark.parametrize("ascii_text", (False, True))
def test_tangents_are_those_of_the_sdk(ascii_text: bool, tmp_path: Path) -> None:
    take = read(tangent_file(tmp_path / "tangents.fbx", ascii_text)).curves[0]
    for curve in take.curves:
        expected = TANGENTS[curve.channel.target][2]
        # ufbx keeps tangents as float32 and the weight of a third as 0.333333
        assert curve.sample(PROBES)[:, 0] == pytest.approx(expected, abs=5e-6), curve.channel.target


def test_keys_stay_keys(tmp_path: Path) -> None:
    curves = {curve.channel.target: curve for curve in read(tangent_file(tmp_path / "tangents.fbx")).curves[0].curves}
    for name, curve in curves.items():
        assert curve.times == pytest.approx(TIMES), name
        assert curve.values[:, 0] == pytest.approx(VALUES), name
    assert (curves["user"].segments == BEZIER).all() and (curves["constant"].segments == STEP).all()
    assert curves["weighted"].after[0, 0, 0] == pytest.approx(0.1 * 0.25)
    assert curves["weighted"].before[1, 0, 0] == pytest.approx(0.9 * 0.25)


def test_curves_go_on_beyond_their_keys(tmp_path: Path) -> None:
    from understudy.formats.fbx.document import FbxNode

    file = FbxFile()
    (layer,) = file.stack("take")
    for name, letter in (("hold", "C"), ("cycle", "R"), ("cycle_offset", "A"), ("linear", "K")):
        children = keys((0.0, 1.0), (0.0, 2.0))
        children.append(FbxNode("Post-Extrapolation", [], [FbxNode("Type", [ord(letter)])]))
        file.curves(layer, file.model(name), "Lcl Translation", {"X": children}, Y=0.0, Z=0.0)
    take = read(file.save(tmp_path / "beyond.fbx")).curves[0]
    expected = {"hold": 2.0, "cycle": 1.0, "cycle_offset": 3.0, "linear": 3.0}
    for curve in take.curves:
        assert curve.extrapolation == ("hold", curve.channel.target)
        assert curve.sample([1.5])[0, 0] == pytest.approx(expected[curve.channel.target])


def test_keys_that_run_backwards_are_left_out(tmp_path: Path) -> None:
    file = FbxFile()
    (layer,) = file.stack("take")
    damaged = keys((0.0, 2.0, 1.0, 2.0, 3.0), (0.0, 1.0, np.nan, 5.0, 2.0))
    file.curves(layer, file.model("a"), "Lcl Translation", {"X": damaged}, Y=0.0, Z=0.0)
    asset = read(file.save(tmp_path / "backwards.fbx"))
    curve: Curve = asset.curves[0].curves[0]
    assert curve.times.tolist() == [0.0, 2.0, 3.0] and curve.values[:, 0].tolist() == [0.0, 1.0, 2.0]
    assert any("left out (2)" in note for note in asset.notes)
