"""Before and after: two rows, marks where goals, pins and contacts are, one camera for all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.edit import puppets

from understudy.edit.goals import Contact, Edit, MovePoint, Pin, Point
from understudy.edit.keys import set_key
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.render.before_after import PIN_COLOUR, _moments, goal_position, write_before_after_sheet
from understudy.render.show import ViewSettings
from understudy.render.trail import trail_of_animation

VIEW = ViewSettings(size=(120, 100), backend="software")
HAND = Point("rig:hand")


def changed():
    """The wave with a higher key in the middle."""
    turn = quaternion.from_rotation_vector([0, 0, 1.4])
    return set_key(puppets.wave(), "rig:upper", "rotation", 0.5, turn)


def sheet(path: Path, edit: Edit | None = None, **how) -> np.ndarray:
    write_before_after_sheet(puppets.rig(), puppets.wave(), changed(), path, edit=edit, view=VIEW, **how)
    return np.asarray(Image.open(path).convert("RGB"), int)


def test_rows_are_before_and_after(tmp_path: Path) -> None:
    picture = sheet(tmp_path / "x.png", points=[HAND], times=[0.0, 0.5])
    height, width = picture.shape[:2]
    assert width > 2 * 120 and height > 2 * 100
    # find the two pictures of each column by their place: the sheet's margins are the same at both sides
    margin = max(14, round(1.8 * 11))
    columns = [slice(margin + i * (120 + 10), margin + i * (120 + 10) + 120) for i in range(2)]
    caption, title = round(1.9 * 11), round(3.0 * 11)
    tops = [margin + title + i * (100 + caption + 10) for i in range(2)]
    views = [[picture[top : top + 100, column] for column in columns] for top in tops]
    same, moved = (np.abs(views[0][i] - views[1][i]).max(axis=2) > 60 for i in range(2))
    assert moved.sum() > 1.1 * same.sum()  # at its first key the pose is the same, and only the trails differ


def test_what_was_asked_for_is_marked(tmp_path: Path) -> None:
    edit = Edit(
        [MovePoint(HAND, 0.5, by=(0, 0.2, 0))], [Pin(Point("rig:upper"))], [Contact(Point("rig:fore"), 0.25, 0.75)]
    )
    plain = sheet(tmp_path / "a.png", points=[HAND], times=[0.5])
    marked = sheet(tmp_path / "b.png", edit, times=[0.5])
    for picture, expected in ((plain, False), (marked, True)):
        found = np.abs(picture / 255 - PIN_COLOUR).max(axis=2) < 0.06
        assert found.any() == expected


def test_goals_are_places() -> None:
    rig, curves = puppets.rig(), puppets.wave()
    was = rig.joints(rig.pose(curves, [0.5]))[0, 3, :3, 3]
    np.testing.assert_allclose(
        goal_position(rig, curves, MovePoint(HAND, 0.5, by=(0, 1, 0)))[0], np.add(was, [0, 1, 0])
    )
    np.testing.assert_allclose(goal_position(rig, curves, MovePoint(HAND, 0.5, to=(1, 2, 3)))[0], [1, 2, 3])
    assert goal_position(rig, curves, MovePoint(HAND, 0.5, turn_to=(0, 0, 0, 1))) is None


def test_moments_are_those_that_matter() -> None:
    rig = puppets.rig()
    drawn = [[trail_of_animation(rig, curves, HAND)] for curves in (puppets.wave(), changed())]
    two = [MovePoint(HAND, 0.3, by=(0, 1, 0)), MovePoint(HAND, 0.2, by=(0, 1, 0))]
    assert _moments(drawn, Edit(two)) == [0.2, 0.3]
    one = _moments(drawn, Edit(two[:1]))
    assert len(one) == 4 and 0.3 in one and one == sorted(one)
    same = _moments([drawn[0], drawn[0]], None)
    assert (same[0], same[-1]) == (0, 1)


def test_nothing_to_show_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least one point"):
        sheet(tmp_path / "x.png")
    with pytest.raises(InvalidInput, match=r"\.png"):
        sheet(tmp_path / "x.mp4", points=[HAND])
    assert not list(tmp_path.iterdir())
