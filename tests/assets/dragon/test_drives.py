"""The table of drives: sides as a mirror would write them, units, limits, and errors that name the culprit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cast.dragon import shipped

from assets.dragon import controls
from understudy.errors import InvalidInput


def found(control: str) -> dict[str, float]:
    names = shipped.layers().shapes.names
    every = controls.drive_rules(shipped.controls(), names)
    return {rule.target: rule.amount for rule in every if rule.section == "drives" and rule.controls == (control,)}


def test_degrees_become_radians_and_head_lengths_metres() -> None:
    assert found("neck.low_nod") == {"Neck1.rx": pytest.approx(np.pi / 180)}
    assert found("head.slide_y") == {"Head.ty": pytest.approx(0.4)}
    assert found("head.stretch")["Head.sy"] == pytest.approx(0.1)


def test_a_pair_is_written_once_and_mirrored() -> None:
    left, right = found("ears.flare.L"), found("ears.flare.R")
    assert left["Ear.L.ry"] == -right["Ear.R.ry"]  # forward on both sides
    assert found("lids.upper.L")["LidUpper.L.rx"] == found("lids.upper.R")["LidUpper.R.rx"]


def test_a_centre_control_moves_both_sides_as_its_own_image_says() -> None:
    gaze, verge = found("eyes.x"), found("eyes.verge")
    assert gaze["Eye.L.ry"] == gaze["Eye.R.ry"]  # both to its left
    assert verge["Eye.L.ry"] == -verge["Eye.R.ry"]  # each towards the nose


def test_every_shape_of_a_control_is_driven() -> None:
    layers = shipped.layers()
    first = len(layers.components)
    driven = set(layers.drive_parameter) | set(layers.corrective_parameter)
    idle = [name for i, name in enumerate(layers.shapes.names) if first + i not in driven]
    assert idle == []


def test_every_control_drives_something() -> None:
    layers = shipped.layers()
    assert layers.lattice is not None
    busy = {*layers.drive_control, *layers.corrective_a, *layers.toward_control, *layers.lattice.control}
    assert busy == set(range(len(layers.controls)))


def test_limits_hold_whatever_the_controls_ask() -> None:
    layers, rng = shipped.layers(), np.random.default_rng(1)
    controls = layers.controls
    rows = np.where(rng.uniform(size=(50, len(controls))) < 0.5, controls.low, controls.high)
    parameters = shipped.rig().parameters(rows)
    assert (parameters >= layers.low - 1e-6).all() and (parameters <= layers.high + 1e-6).all()
    assert np.isfinite(layers.low).sum() == 9  # lids, eyes and jaw


def test_what_is_not_known_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "drives.txt"
    monkeypatch.setattr(controls, "DRIVES_FILE", table)
    table.write_text("[drives]\nneck.lean: Neck9.rx 1\n")
    with pytest.raises(InvalidInput, match=r"neck\.lean -> Neck9\.rx is not known"):
        controls.layer_arrays(shipped.controls(), [("Neck1", "rx")], ())
    table.write_text("[drives]\n\nneck.lean Neck1.rx 1\n")
    with pytest.raises(InvalidInput, match=r"line 3: expected `control: target gain`"):
        controls.drive_rules(shipped.controls(), ())
