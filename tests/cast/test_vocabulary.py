"""Vocabularies: names stand for columns, and what is unknown is refused with what there is."""

from __future__ import annotations

import pytest
from tests.cast.small_face import small_face

from understudy.cast.dope_sheet.sheet import of_controls, of_joints
from understudy.character.controls import Controls
from understudy.errors import InvalidInput

FACE = of_controls(small_face())
JOINTS = of_joints(["Neck", "Head"])


@pytest.mark.parametrize(
    ("owner", "name", "columns"),
    [
        ("brows", "raise", ("brows.raise.L", "brows.raise.R")),
        ("brows", "raise.R", ("brows.raise.R",)),
        ("mouth", "o", ("mouth.o",)),
        ("mouth", "lattice.mouth_tip_in_y", ("lattice.mouth_tip_in_y.L", "lattice.mouth_tip_in_y.R")),
        ("", "lids.upper.L", ("lids.upper.L",)),
        ("breath", "air", ("neck.breath",)),
    ],
)
def test_names_of_a_face(owner: str, name: str, columns: tuple[str, ...]) -> None:
    assert FACE.columns(owner, name) == columns


def test_names_of_joints() -> None:
    assert JOINTS.columns("Head", "ry") == ("Head.ry",)
    assert JOINTS.columns("Body", "Neck.tx") == ("Neck.tx",)
    assert JOINTS.still == {f"{joint}.t{axis}" for joint in ("Neck", "Head") for axis in "xyz"}
    assert not JOINTS.ranges and not JOINTS.whole


def test_every_control_of_a_face_is_known_with_rest_and_range() -> None:
    controls = small_face()
    known = {column for owner in FACE.owners.values() for columns in owner.values() for column in columns}
    assert known == set(controls.names) == set(FACE.rests) == set(FACE.ranges)
    assert FACE.rests["eyes.pupil.L"] == 1 and FACE.ranges["eyes.pupil.L"] == (0.5, 1.4)
    assert FACE.parts == {name: name[-1] for name in controls.names if name[-2:] in (".L", ".R")}


@pytest.mark.parametrize(
    ("owner", "name", "reason"),
    [
        ("brows", "rise", "brows has no 'rise'; available: raise, lower"),
        ("mouth", "o.L", "mouth has no 'o.L'"),
        ("brows", "raise.M", "brows has no 'raise.M'"),
        ("wings", "flap", "there is no group 'wings'; available: eyes, lids"),
        ("", "wings.flap", "there is no group 'wings'"),
    ],
)
def test_unknown_names_are_refused_with_what_there_is(owner: str, name: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        FACE.columns(owner, name)
    assert reason in str(caught.value)


def test_what_can_be_late() -> None:
    FACE.check_delay("L")
    JOINTS.check_delay("Neck")
    with pytest.raises(InvalidInput, match="there is no side 'M'; available: L, R"):
        FACE.check_delay("M")


def test_a_name_is_one_control_or_two_sides() -> None:
    with pytest.raises(InvalidInput, match=r"mouth.o should be one control, or one .L and then one .R"):
        names = ["mouth.o", "mouth.o.L", "mouth.o.R"]
        of_controls(Controls(names, ["mouth"] * 3, ["fine"] * 3, ["weight"] * 3, [0] * 3, [0] * 3, [1] * 3))
