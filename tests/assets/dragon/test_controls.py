"""The 742 controls: their number, names, ranges and sides."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from assets.dragon import controls
from assets.dragon.controls import dragon_controls, fine_places
from understudy.errors import InvalidInput


def test_there_are_742_in_four_layers() -> None:
    controls = dragon_controls()
    assert len(controls) == 742
    assert Counter(controls.layers) == {"bones": 61, "coarse": 101, "fine": 280, "lattice": 300}
    assert set(controls.regions) == {"brows", "eyes", "nose", "mouth", "jaw", "ears", "neck", "lattice"}


def test_each_has_a_range_and_says_what_it_does() -> None:
    controls = dragon_controls()
    assert (controls.low < controls.high).all()
    assert all(controls.about)
    assert len(set(zip(controls.about, (name[-2:] for name in controls.names)))) >= 741


def test_sides_come_in_pairs_and_centres_alone() -> None:
    controls = dragon_controls()
    sided = np.array([name.endswith((".L", ".R")) for name in controls.names])
    assert (controls.mirror[sided] != np.flatnonzero(sided)).all()
    assert (controls.mirror[~sided] == np.flatnonzero(~sided)).all()
    assert not controls.odd[sided].any()


def test_a_centre_control_that_flips_has_the_same_way_on_both_sides() -> None:
    controls = dragon_controls()
    odd = controls.odd
    np.testing.assert_allclose(controls.high[odd] - controls.rest[odd], controls.rest[odd] - controls.low[odd])
    turning = [name for name, flips in zip(controls.names, odd) if flips]
    assert {"head.turn", "head.roll", "eyes.x", "mouth.shift", "lattice.nose_tip_mid_x"} <= set(turning)
    assert "head.nod" not in turning


@pytest.mark.parametrize(
    "name",
    [
        "mouth.upper3_up.L",
        "mouth.lower0_out",
        "brows.b2_up.L",
        "cheeks.c4_out.R",
        "nose.n1_up.L",
        "lids.rim_up2.L",
        "jaw.j3_out.L",
        "ears.e2_out.L",
        "neck.throat3_out",
        "lattice.chin_back_out_x.R",
        "neck.breath",
        "eyes.pupil.L",
        "mouth.o",
    ],
)
def test_names_that_animators_rely_on(name: str) -> None:
    assert name in dragon_controls()


def test_a_fine_place_makes_a_control_a_direction_and_side() -> None:
    made = sum(len(place.controls) * (1 + place.sided) for place in fine_places())
    assert made == len(dragon_controls().indices_in_layer("fine"))


def test_a_row_with_too_few_columns_is_refused_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fine.txt").write_text("# a comment\nmouth.upper0 same up\n")
    monkeypatch.setattr(controls, "FOLDER", tmp_path)
    with pytest.raises(InvalidInput, match=r"fine\.txt, line 2: expected 6 columns, but found 3"):
        controls.fine_places.__wrapped__()
