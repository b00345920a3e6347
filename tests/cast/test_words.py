"""Words of a dope sheet: what they set, and how a key is reached."""

from __future__ import annotations

import pytest
from tests.cast.small_face import small_face

from understudy.cast.dope_sheet import sheet
from understudy.cast.dope_sheet.sheet import EASES, of_controls
from understudy.errors import InvalidInput

FACE = of_controls(small_face())
POSES = {
    "mouth.grin": {"mouth.smile.L": 1.0, "mouth.smile.R": 1.0, "mouth.o": 0.5},
    "mouth.sulk": {"mouth.frown.L": 1.0, "mouth.frown.R": 0.5, "mouth.smile.L": -0.5},
    "eyes.big": {"eyes.pupil.L": 1.4, "eyes.pupil.R": 1.2},
}


def meant(owner: str, text: str) -> dict[str, float]:
    return sheet.read_words(text.split(), owner, POSES, FACE).column_values(FACE)


def test_an_amount_counts_from_rest_for_each_side_and_its_mean_in_the_middle() -> None:
    assert meant("mouth", "grin*.5/1") == {"mouth.smile.L": 0.5, "mouth.smile.R": 1.0, "mouth.o": 0.375}
    assert meant("eyes", "big*.5/0") == pytest.approx({"eyes.pupil.L": 1.2, "eyes.pupil.R": 1.0})


def test_poses_add_up_and_a_control_by_name_goes_over_them() -> None:
    both = meant("mouth", "grin sulk*.5")
    assert both["mouth.smile.L"] == 0.75 and both["mouth.smile.R"] == 1 and both["mouth.frown.R"] == 0.25
    for order in ("smile=.2/.1 grin", "grin smile=.2/.1"):
        assert meant("mouth", order) == {"mouth.smile.L": 0.2, "mouth.smile.R": 0.1, "mouth.o": 0.5}
    assert meant("mouth", "smile.L=.3") == {"mouth.smile.L": 0.3}


def test_what_goes_along_in_a_pose_stops_at_its_range_but_a_name_means_what_it_says() -> None:
    poses = {"mouth.pull": {"mouth.smile.L": 1.0, "lattice.mouth_tip_in_y.L": -0.9}}
    said = sheet.read_words(["pull*1.2"], "mouth", poses, FACE).column_values(FACE)
    assert said == {"mouth.smile.L": 1.2, "lattice.mouth_tip_in_y.L": -1.0}
    said = sheet.read_words(["lattice.mouth_tip_in_y.L=-1.2"], "mouth", poses, FACE).column_values(FACE)
    assert said == {"lattice.mouth_tip_in_y.L": -1.2}


def test_rest_is_a_pose_of_every_group() -> None:
    said = sheet.read_words(["rest"], "brows", POSES, FACE)
    assert said.uses and not said.column_values(FACE)


def test_how() -> None:
    said = sheet.read_words(["o=.2", ".1,.6", "os=12:5:2", "break", "in=1.5", "out=-2", "arc=3"], "mouth", POSES, FACE)
    assert said.interpolation == ((0.1, 0.6), False, (0.12, 5, 2), True, 1.5, -2)
    assert said.arc == 3
    assert sheet.read_words(["o=1", "late", "line"], "mouth", POSES, FACE).interpolation[:2] == (EASES["late"], True)


def test_a_control_called_out_is_no_slope() -> None:
    said = sheet.read_words(["out=.5", "in=2"], "tongue", POSES, FACE)
    assert (
        said.values == {"tongue.out": 0.5} and said.interpolation.arriving == 2 and said.interpolation.leaving is None
    )


@pytest.mark.parametrize(
    ("owner", "text", "reason"),
    [
        ("mouth", "o=.2/.3", "mouth.o has no sides, but is given two values, 'o=.2/.3'"),
        ("mouth", "grimace", "there is no pose or ease 'grimace'; available: grin, sulk, soft"),
        ("mouth", "os=12", "should be written os=percent:frames"),
        ("mouth", "smile=fast", "expected a value such as smile=1.2 or a pose, but found 'smile=fast'"),
        ("mouth", "smile=1 arc=up", "expected a number, but found 'up'"),
        ("mouth", "eyes.big=2", "eyes has no 'big'"),
    ],
)
def test_what_cannot_be_meant(owner: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        meant(owner, text)
    assert reason in str(caught.value)


def test_a_pose_cannot_say_how() -> None:
    with pytest.raises(InvalidInput, match="no pose or ease 'snap'"):
        sheet.read_words(["snap"], "mouth", POSES, FACE, key=False)


@pytest.mark.parametrize(("text", "found"), [("12", (None, 12)), ("4.5>9", (4.5, 9)), ("0", (None, 0))])
def test_times(text: str, found: tuple[float | None, float]) -> None:
    assert sheet.read_key_time(text) == found


def test_spans_and_delays() -> None:
    assert sheet.read_span(" 3>9 ", "hold") == (3, 9)
    assert sheet.read_delay("R+1.5", FACE) == ("R", 1.5)
    for text in ("9>3", "9", "a>b"):
        with pytest.raises(InvalidInput, match="a hold should be written start>end"):
            sheet.read_span(text, "hold")
    with pytest.raises(InvalidInput, match=r"stand still or L\+frames or R\+frames, but not 'loud'"):
        sheet.read_delay("loud", FACE)
