"""Tracks of a face become keys of its controls."""

from __future__ import annotations

import pytest
from tests.cast.small_face import small_face

from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import Key, Sheet, of_controls
from understudy.errors import BadFile

FACE = of_controls(small_face())
POSES = """
pose mouth grin: smile=1 o=.5
pose mouth sulk: frown=1/.5 lattice.mouth_tip_in_y=.2
pose lids sleepy: upper=-30 blink=.2
"""


def read(text: str) -> Sheet:
    return parse(f"clip c\nframes 60\n{POSES}\n{text}", "c.txt", FACE)


def brief(keys: list[Key]) -> list[tuple[float | None, float, float]]:
    return [(key.departure, key.frame, pytest.approx(key.value)) for key in keys]


def test_a_pose_brings_to_rest_what_its_track_uses_and_it_does_not_name() -> None:
    tracks = read("mouth: 5>9 grin | 20>24 sulk | 30>34 smile=.3 | 40>44 rest").tracks
    assert brief(tracks["mouth.smile.L"]) == [(5, 9, 1), (20, 24, 0), (30, 34, 0.3), (40, 44, 0)]
    assert brief(tracks["mouth.o"]) == [(5, 9, 0.5), (20, 24, 0)]  # at rest already: no further key
    assert brief(tracks["mouth.frown.R"]) == [(20, 24, 0.5), (40, 44, 0)]
    assert brief(tracks["lattice.mouth_tip_in_y.L"]) == [(20, 24, 0.2), (40, 44, 0)]


def test_what_no_key_uses_is_not_touched() -> None:
    assert set(read("mouth: 5>9 smile=.5").tracks) == {"mouth.smile.L", "mouth.smile.R"}


def test_a_bare_time_glides_from_where_the_control_was_last_told_to_rest() -> None:
    tracks = read("mouth: 0 rest | 20 sulk | 40 grin").tracks
    assert brief(tracks["mouth.smile.L"]) == [(20, 40, 1)]
    assert brief(tracks["mouth.frown.L"]) == [(0, 20, 1), (None, 40, 0)]


def test_a_key_on_another_control_may_overlap_a_pose_that_leaves_it_at_rest() -> None:
    tracks = read("mouth: 5>9 grin | 7>12 frown=.4 | 30>34 rest").tracks
    assert brief(tracks["mouth.frown.L"]) == [(7, 12, 0.4), (30, 34, 0)]


def test_keys_may_stand_in_any_order() -> None:
    one = read("eyes: 5>7 x=9 | 20>22 x=-4 | 9>15 pupil=.8").tracks
    two = read("eyes: 20>22 x=-4 | 9>15 pupil=.8 | 5>7 x=9").tracks
    values = {name: brief(keys) for name, keys in one.items()}
    assert values == {name: brief(keys) for name, keys in two.items()}


def test_a_side_can_be_late_but_not_at_the_first_frame() -> None:
    tracks = read("mouth R+1.5: 0 smile=.1 | 5>9 smile=1/.8").tracks
    assert brief(tracks["mouth.smile.L"]) == [(None, 0, 0.1), (5, 9, 1)]
    assert brief(tracks["mouth.smile.R"]) == [(None, 0, 0.1), (6.5, 10.5, 0.8)]


def test_a_blink_closes_stays_and_opens() -> None:
    sheet = read("blink 30 2/0/5 *.5/0\nblink 10 3/1/4 R+1")
    assert brief(sheet.tracks["lids.blink.L"]) == [(10, 13, 1), (14, 18, 0), (30, 32, 0.5), (32, 37, 0)]
    assert brief(sheet.tracks["lids.blink.R"])[:2] == [(11, 14, 1), (15, 19, 0)]
    assert sheet.still == {"lids.blink.L", "lids.blink.R"}


def test_poses_leave_blink_and_breath_to_their_own_tracks() -> None:
    assert "lids.blink.L" in read("lids: 5>9 sleepy").tracks
    tracks = read("lids: 5>9 sleepy\nblink 20 3/1/4\nbreath: 0 air=.2 | 5>15 air=1").tracks
    assert len(tracks["lids.blink.L"]) == 2 and tracks["lids.upper.L"][0].value == -30
    assert brief(tracks["neck.breath"]) == [(None, 0, 0.2), (5, 15, 1)]


def test_an_arc_dips_the_nod_half_way() -> None:
    tracks = read("head: 5>9 nod=4 | 10>20 turn=30 nod=8 arc=5 heavy | 30>34 turn=0 arc=-3").tracks
    nod = tracks["head.nod"]
    assert brief(nod) == [(5, 9, 4), (10, 15, 11), (None, 20, 8), (30, 32, 5), (None, 34, 8)]
    assert nod[1].interpolation.handles[0] == 0.62 and nod[2].interpolation.handles[1] == 0.34
    assert brief(tracks["head.turn"]) == [(10, 20, 30), (30, 34, 0)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mouth: 5>9 grin\nmouth R+1: 20>24 o=.2", "line 9: mouth.o is already keyed by the track 'mouth'"),
        ("lids: 5>9 blink=.2\nblink 20 3/1/4", "line 9: lids.blink.L is already keyed by the track 'lids'"),
        ("mouth: 5>9 sulk\nlattice: 5>9 mouth_tip_in_y=.1", "already keyed by the track 'mouth'"),
        ("mouth: 5>9 smile=1.4", "key 5>9: mouth.smile.L should lie between -0.6 and 1.3, but is 1.4"),
        ("mouth: 5>9 grin*1.5/1", "mouth.smile.L should lie between -0.6 and 1.3, but is 1.5"),
        ("mouth: 5>9 grin arc=2", "arc= dips the nod of a head, but stands in the track 'mouth'"),
        ("head: 9 turn=3 arc=2", "should say when it leaves"),
        ("head: 1>9 turn=3 arc=40", "head.nod should lie between -35 and 35, but is 40"),
    ],
)
def test_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(BadFile) as caught:
        read(text)
    assert reason in str(caught.value)
