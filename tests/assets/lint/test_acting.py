"""The lint finds what it is there for, and leaves sound acting alone."""

from __future__ import annotations

import pytest
from tests.cast.small_face import small_face

from assets.lint.acting import Finding, lint
from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import of_controls

CONTROLS = small_face()
FACE = of_controls(CONTROLS)
HEAD = "clip a\nframes 72\nlabels happy\nabout looks about\nmoment 9 there\n"
ALIVE = "breath: 0 air=.1 | 1>11 air=.9 | 14>27 air=.1 | 29>45 air=.8 | 48>57 air=0 | 59>72 air=.9\n"


def found(tracks: str, head: str = HEAD) -> list[Finding]:
    return lint(parse(head + tracks, "a.txt", FACE), CONTROLS)


def only(findings: list[Finding], words: str) -> Finding:
    (finding,) = [finding for finding in findings if words in finding.text]
    return finding


def test_sound_acting_is_clean() -> None:
    acted = "eyes: 4>6 x=12 snap\nhead: 7>13 turn=14 arc=3 | 33>45 turn=-6 heavy\nbrows R+1: 9>13 raise=.6/.4 os=10:4\n"
    assert found(ALIVE + acted) == []


@pytest.mark.parametrize("lost", ["labels happy\n", "about looks about\n", "moment 9 there\n"])
def test_a_clip_says_what_it_is(lost: str) -> None:
    word = lost.partition(" ")[0]
    assert only(found(ALIVE, HEAD.replace(lost, "")), f"no line {word!r}").severity == "error"


@pytest.mark.parametrize("frames", [40, 200])
def test_a_clip_lasts_two_to_eight_seconds(frames: int) -> None:
    head = HEAD.replace("frames 72", f"frames {frames}")
    assert only(found("head: 5>30 turn=9", head), "should last 2 to 8 s").severity == "error"


def test_a_slope_by_hand_can_leave_the_range_between_keys() -> None:
    finding = only(found(ALIVE + "mouth: 5>15 smile.L=1.2 | 25 smile.L=1.2 break in=-9"), "mouth.smile.L is 1.")
    assert finding.severity == "error" and 15 < finding.frame < 25


def test_a_corner_has_to_be_meant() -> None:
    bent = ALIVE + "head: 5>15 turn=9 in=30 out=-30 | 30>40 turn=0"
    finding = only(found(bent), "changes its speed at once")
    assert (finding.severity, finding.frame) == ("error", pytest.approx(15))
    assert not [f for f in found(bent.replace("out=-30", "out=-30 break")) if "speed" in f.text]
    # an ease without a handle starts at full speed out of a hold
    assert only(found(ALIVE + "head: 5>15 turn=30 0,.5"), "head.turn changes its speed").frame == pytest.approx(5)


def test_stillness_has_to_be_meant() -> None:
    dead = "head still: 3>9 turn=20 | 40>72 turn=-20"
    finding = only(found(dead), "stands still")
    assert finding.severity == "error" and finding.frame in (8, 9) and "3" in finding.text
    assert not [f for f in found(dead, HEAD + "hold 8>41\n") if "still" in f.text]
    assert not [f for f in found(dead + "\n" + ALIVE) if "still" in f.text]
    drifting = "brows: 3>9 raise=1.2 | 40>72 raise=0\nmouth: 3>9 smile=.9 | 40>72 smile=0"
    assert only(found(drifting), "hardly moves").severity == "warning"


def test_groups_should_not_leave_together() -> None:
    tracks = "eyes: 9>11 x=9\nhead: 9>15 turn=9\nmouth: 9>12 smile=1\n"
    assert not [f for f in found(ALIVE + tracks) if "together" in f.text]
    finding = only(found(ALIVE + tracks + "brows: 9>12 raise=1\nblink 9 3/1/4\n"), "together")
    assert (finding.severity, finding.frame) == ("warning", 9)
    assert "4 groups leave together: brows, eyes, head, mouth" in finding.text
    assert str(finding).startswith("warning: frame 9: 4 groups")


def test_eyes_jump() -> None:
    assert only(found(ALIVE + "eyes: 9>15 x=9 | 30>33 x=-9 | 40>50 x=-12"), "eyes.x takes 6 frames").frame == 9


def test_accents_should_not_be_even() -> None:
    even = "head still: " + " | ".join(f"{f}>{f + 6} turn={12 * (-1) ** (f // 6)}" for f in range(6, 60, 6))
    assert only(found(even), "evenly").severity == "warning"
    uneven = [(5, 12), (12, 16), (16, 26), (26, 29), (32, 45), (50, 55)]
    spaced = "head still: " + " | ".join(f"{a}>{b} turn={12 * (-1) ** i}" for i, (a, b) in enumerate(uneven))
    assert not [f for f in found(spaced) if "evenly" in f.text]


def test_nod_and_lean_should_not_add_up() -> None:
    assert only(found(ALIVE + "head: 9>15 nod=9\nneck: 9>16 lean=10"), "add up to 20").severity == "warning"
    assert not [f for f in found(ALIVE + "head: 9>15 nod=-4\nneck: 9>16 lean=10") if "add up" in f.text]


def test_all_keys_that_make_no_curve_are_found_at_once() -> None:
    bad = found("mouth: 9>15 smile=1.2 os=20:4\nbrows: 9>15 raise=1 | 12>18 raise=0\n")
    assert [f.severity for f in bad] == ["error"] * 4
    assert "line 6, key 9>15: mouth.smile.L overshoots" in bad[0].text
    assert "line 7, key 12>18: brows.raise.L leaves or arrives before" in bad[2].text
