"""Steps written out as keys."""

from __future__ import annotations

import numpy as np
import pytest

from assets.members import actor_motion
from assets.members.actor_steps import STANCE, Course, expanded
from understudy.errors import BadFile, InvalidInput

SHEET = """clip walk
frames 60
about one step
course 1 2 90
step L 20>32 z=.5 x=.1 turn=10 lift=.1
spine: 10>20 bend=5
"""


def test_a_course_turns_and_moves_places() -> None:
    assert Course().place(1.0, 0.2, 0.5) == pytest.approx((0.2, 0.5))
    x, z = Course(1.0, 2.0, 90.0).place(1.0, 0.1, 0.5)
    assert (x + STANCE, z) == pytest.approx((1.5, 2.0 - 0.1 - STANCE))


def test_lines_keep_their_numbers_and_what_is_no_step_stays() -> None:
    before, after = SHEET.split("\n"), expanded(SHEET).split("\n")
    assert len(before) == len(after)
    assert after[3] == "" and after[4].startswith("feet: 20")
    assert [a for i, a in enumerate(after) if i not in (3, 4)] == [b for i, b in enumerate(before) if i not in (3, 4)]


def test_a_foot_is_in_the_air_from_start_to_end_and_stands_where_it_was_told() -> None:
    values = actor_motion.control_values(actor_motion.read_sheet(SHEET, "walk.txt"))
    times = np.arange(121) / 2
    lift, roll = values["feet.lift.L"], values["feet.roll.L"]
    assert (lift[(times > 20) & (times < 32)] > 0).all()
    assert (lift[(times <= 20) | (times >= 32)] == 0).all()
    assert lift.max() == pytest.approx(0.1)
    assert roll[times == 20] == pytest.approx(24) and roll[times == 32] == pytest.approx(-12)
    assert (roll[times >= 35] == 0).all() and (roll[times <= 15] == 0).all()
    assert values["feet.turn.L"][-1] == pytest.approx(100)
    assert values["feet.x.L"][-1] == pytest.approx(1.5 - STANCE)
    assert not values["feet.x.R"].any()


def test_on_the_way_a_foot_may_go_elsewhere() -> None:
    kick = SHEET.replace("lift=.1", "lift=.4 via=.9 top=.5")
    values = actor_motion.control_values(actor_motion.read_sheet(kick, "kick.txt"))
    assert values["feet.x.L"].max() == pytest.approx(1.9 - STANCE)
    assert values["feet.x.L"][-1] == pytest.approx(1.5 - STANCE)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("step L 20 z=.5", "start>end"),
        ("step M 20>32", "step L 40>52"),
        ("step L 20>32 hight=.1", "no 'hight'"),
        ("step L 20>32 z=far", "expected a number"),
        ("course 1 2", "course X Z HEADING"),
    ],
)
def test_what_is_not_a_step_is_refused(line: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        expanded(line)
    with pytest.raises(BadFile, match=r"walk\.txt"):
        actor_motion.read_sheet(f"clip a\nframes 60\n{line}", "walk.txt")
