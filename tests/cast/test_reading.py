"""Dope sheets: what is written is what is read, and what is wrong is named with its line."""

from __future__ import annotations

import pytest
from tests.cast.small_face import small_face

from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import EASES, Sheet, SheetContact, of_controls, of_joints
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
    assert sheet.contacts == [SheetContact("Root", 0, 10), SheetContact("Root", 12, 48)]
    assert sheet.poses == {"low": {"Arm.rx": -20, "Neck.rx": 15, "Neck.rz": 2}}


def test_poses_set_what_they_name_by_their_amount_and_delays_shift_it() -> None:
    tracks = read(SHEET).tracks
    assert [(k.departure, k.frame, k.value) for k in tracks["Arm.rx"]] == [(None, 0, -10), (10, 20, -20), (24, 30, 4)]
    assert [(k.departure, k.frame, k.value) for k in tracks["Neck.rz"]] == [(None, 0, 1), (12, 22, 2)]
    assert tracks["Arm.rx"][1].interpolation.handles == EASES["heavy"]


def test_how_a_key_gets_there() -> None:
    tracks = read(SHEET).tracks
    (turn,) = tracks["Head.ry"]
    assert turn.interpolation.overshoot == (0.15, 4, 2) and turn.interpolation.handles == EASES["snap"]
    (nod,) = tracks["Head.rx"]
    assert nod.departure is None and nod.interpolation.handles == (0.5, 0.25)
    up, down = tracks["Root.ty"]
    assert up.interpolation.broken and up.interpolation.leaving == 2 and up.interpolation.arriving is None
    assert (
        down.interpolation.broken and down.interpolation.arriving == -2 and down.interpolation.handles == EASES["even"]
    )


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


FACE = of_controls(small_face())
HEAD = """
clip   hello
frames 48
labels happy, small
about  looks up: hello
moment 12 seen
moment 30 hello
hold   20>24, 40>48
pose lids smile: upper=-6 tilt=-3
pose lids gleam: smile*.5 tilt=2/1
pose mouth grin: smile=1 lattice.mouth_tip_in_y=.3/.1
face happy: lids.smile mouth.grin*.5/1 eyes.pupil=1.2 brows.rest head.roll=-5
face happier: happy*1.2 tongue.out=.4
"""


def test_the_head_of_a_sheet_for_a_face() -> None:
    sheet = parse(HEAD, "hello.txt", FACE)
    assert sheet.moments == {"seen": 12, "hello": 30}
    assert sheet.holds == [(20, 24), (40, 48)]
    assert sheet.about == "looks up: hello" and sheet.labels == ("happy", "small") and sheet.rate == 24


def test_poses_start_from_others_and_faces_are_made_of_poses() -> None:
    sheet = parse(HEAD, "hello.txt", FACE)
    assert sheet.poses["lids.gleam"] == {
        "lids.upper.L": -3,
        "lids.upper.R": -3,
        "lids.tilt.L": 2,
        "lids.tilt.R": 1,
    }
    happy = sheet.faces["happy"]
    assert happy["mouth.smile.L"] == 0.5 and happy["mouth.smile.R"] == 1 and happy["head.roll"] == -5
    assert happy["lattice.mouth_tip_in_y.L"] == 0.15 and happy["eyes.pupil.R"] == 1.2
    assert sheet.faces["happier"]["eyes.pupil.R"] == pytest.approx(1.24)
    assert sheet.faces["happier"]["tongue.out"] == 0.4


def test_a_sheets_own_pose_goes_before_the_one_known_beforehand() -> None:
    known = {"mouth.grin": {"mouth.o": 1.0}}
    track = "mouth: 0>4 grin"
    assert set(parse(track, "x.txt", FACE, known).tracks) == {"mouth.o"}
    own = parse(f"pose mouth grin: frown=.2\n{track}", "x.txt", FACE, known)
    assert set(own.tracks) == {"mouth.frown.L", "mouth.frown.R"} and own.definitions == {("pose", "mouth.grin")}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("wings: 4 flap=3", "there is no group 'wings'; available: eyes, lids"),
        ("brows: 4 rise=3", "brows has no 'rise'; available: raise, lower"),
        ("brows M+2: 4 raise=1", "there is no side 'M'; available: L, R"),
        ("pose wings up: flap=1", "there is no group 'wings'"),
        ("pose mouth snap: smile=1", "a pose cannot be called 'snap'"),
        ("pose mouth big-grin: smile=1", "a pose cannot be called 'big-grin'"),
        ("pose mouth o: smile=1\npose mouth o: smile=2", "should lie between"),
        ("pose mouth a: smile=1\npose mouth a: smile=.2", "the pose 'mouth.a' was already given"),
        ("face a: mouth.smile=1\nface a: mouth.smile=.2", "the face 'a' was already given"),
        ("face a: mouth.grin", "there is no pose or ease 'mouth.grin'"),
        ("blink 12", "should be written blink FRAME close/shut/open"),
        ("blink 12 3/4", "should be written blink FRAME close/shut/open"),
        ("blink 12 0/1/4", "should take time to close and to open"),
        ("blink 12 3/1/4 fast", "after a track's name stand still or"),
        ("moment 12", "should be written moment FRAME NAME"),
        ("moment x seen", "expected a number, but found 'x'"),
        ("moment 3 a\nmoment 4 a", "the moment 'a' was already given, at frame 3"),
        ("hold 12", "a hold should be written start>end"),
    ],
)
def test_what_is_wrong_in_a_sheet_for_a_face(line: str, reason: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse(f"clip nod\n\n{line}\n", "nod.txt", FACE)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"nod.txt, line {3 + line.count(chr(10))}")


@pytest.mark.parametrize("line", ["moment 49 late", "hold 40>52"])
def test_moments_and_holds_lie_within_the_clip_wherever_its_length_is_written(line: str) -> None:
    with pytest.raises(BadFile, match=r"nod.txt, line 1: .* is outside the clip \(0 to 48\)"):
        parse(f"{line}\nframes 48", "nod.txt", FACE)


def test_a_blink_is_no_word_where_there_are_no_lids() -> None:
    with pytest.raises(BadFile, match="found 'blink'"):
        read("blink 12 3/1/4")
