"""Dope sheets: what is written is what is read, and what is wrong is named with its line."""

from __future__ import annotations

import pytest

from understudy.cast.keys import EASES, Contact, Sheet
from understudy.cast.reading import parse
from understudy.cast.vocabulary import of_joints
from understudy.errors import BadFile

JOINTS = of_joints(("Root", "Arm", "Neck", "Head"))
SHEET = """
# a comment
clip   nod
frames 48
rate   24
order  yxz
labels curious, small one
about  looks up:
about  and down
contact Root: 0>10, 12>48

pose low: Arm rx=-20, Neck rx=15 rz=2   # and another
Body Neck+2: 0 low*0.5 | 10>20 low heavy
           | 24>30 Arm.rx=4
Head: 3>8 ry=12 snap os=15:4:2 | 12 rx=3 .5,.25
Root still: 10 ty=0 break out=2.0 | 20 ty=0 even break in=-2
"""


def read(text: str) -> Sheet:
    return parse(text, "nod.txt", JOINTS)


def test_the_head_of_a_sheet() -> None:
    sheet = read(SHEET)
    assert (sheet.name, sheet.frames, sheet.rate, sheet.order) == ("nod", 48, 24, "yxz")
    assert sheet.labels == ("curious", "small one")
    assert sheet.about == "looks up: and down"
    assert sheet.contacts == [Contact("Root", 0, 10), Contact("Root", 12, 48)]
    assert sheet.poses == {"low": {"Arm.rx": -20, "Neck.rx": 15, "Neck.rz": 2}}


def test_poses_set_what_they_name_by_their_amount_and_delays_shift_it() -> None:
    tracks = read(SHEET).tracks
    assert [(k.departure, k.frame, k.value) for k in tracks["Arm.rx"]] == [(None, 0, -10), (10, 20, -20), (24, 30, 4)]
    assert [(k.departure, k.frame, k.value) for k in tracks["Neck.rz"]] == [(None, 0, 1), (12, 22, 2)]
    assert tracks["Arm.rx"][1].how.handles == EASES["heavy"]


def test_how_a_key_gets_there() -> None:
    tracks = read(SHEET).tracks
    (turn,) = tracks["Head.ry"]
    assert turn.how.overshoot == (0.15, 4, 2) and turn.how.handles == EASES["snap"]
    (nod,) = tracks["Head.rx"]
    assert nod.departure is None and nod.how.handles == (0.5, 0.25)
    up, down = tracks["Root.ty"]
    assert up.how.broken and up.how.leaving == 2 and up.how.arriving is None
    assert down.how.broken and down.how.arriving == -2 and down.how.handles == EASES["even"]


def test_translations_and_still_tracks_do_not_drift() -> None:
    sheet = read(SHEET + "Head still: 40 rz=3\n")
    assert sheet.still == {"Root.ty", "Head.rz"}


def test_poses_known_beforehand_can_be_used() -> None:
    sheet = parse("Body: 0>4 high", "x.txt", JOINTS, {"high": {"Arm.rx": 7.0}})
    assert sheet.tracks["Arm.rx"][0].value == 7


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Head: 4 rq=3", "Head has no 'rq'; available: rz, ry, rx"),
        ("Head: 4 rx=3x", "expected a value such as rx=1.2"),
        ("Tail: 4 rx=3", "there is no joint 'Tail'; available: Root, Arm"),
        ("Head: 4 Tail.rx=3", "there is no joint 'Tail'"),
        ("Head: rx=3", "should begin with a frame"),
        ("Head: 9>9 rx=3", "should arrive after it leaves"),
        ("Head: 4", "sets nothing"),
        ("Head: 4 snap", "sets nothing"),
        ("Head: 4 rx=3 snip", "there is no pose or ease 'snip'; available: soft"),
        ("Head: 4 rx=3 0.5,1.5", "handles should lie between 0 and 1"),
        ("Head: 4 rx=3 in=fast", "expected a number, but found 'fast'"),
        ("Head loud: 4 rx=3", "after a track's name stand still or Joint+frames"),
        ("Head Tail+2: 4 rx=3", "there is no joint 'Tail'"),
        ("Body: 4 Head.rx=3 | 9 Head.rx=0\nHead: 12 rx=3", "Head.rx is already keyed by the track 'Body'"),
        ("| 4 rx=3", "there is none above"),
        ("pose low: Tail rx=2", "there is no joint 'Tail'"),
        ("contact Root: 10>2", "should be written start>end"),
        ("contact Root: 10", "should be written start>end"),
        ("frames many", "expected a number, but found 'many'"),
        ("frames 0", "should be above zero"),
        ("rate -24", "should be above zero"),
        ("order xxz", "order should be x, y and z"),
        ("hello there", "found 'hello'"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(line: str, reason: str) -> None:
    with pytest.raises(BadFile) as caught:
        read(f"clip nod\n\n{line}\n")
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"nod.txt, line {3 + line.count(chr(10))}")
