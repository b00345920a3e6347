"""The task of the user study [Ciccone 2019, section 4.3]: a flying robot with four keys hits obstacles on its way.

It is solved as people did with that tool, by dragging motion curves and nothing else, which left the four keys in all
cases (table 2; with another program's tools there were 11.4 on average).
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from tests.studio.edit.conftest import Editor, point
from tests.studio.edit.robot import JOINTS, KEYS, OBSTACLES, depth

from understudy.checks import Array

MOST_GESTURES = 12
SPARE = 0.03  # metres beyond the obstacle that a point is dragged to


def joints_at(editor: Editor, times: Array) -> Array:
    """(F, J, 3) where the joints are."""
    editing = editor.controller.editing
    rows = editing.rig.pose(editing.committed, editing.origin + times)
    found: Array = editing.rig.joints(rows)[:, :, :3, 3]
    return found


def test_the_robot_flies_around_everything_with_four_keys(editor: Editor, capsys: pytest.CaptureFixture[str]) -> None:
    times = np.arange(73) / 24
    poses = joints_at(editor, np.array(KEYS))
    assert (depth(joints_at(editor, times)) > 0).any(axis=(0, 1)).sum() == len(OBSTACLES), "it hits all of them"
    assert not (depth(poses) > 0).any(), "but not in its key poses"
    for joint in JOINTS[:3]:
        editor.page.ask("editCurve", shown=True, point=point(joint), camera=False)
    gestures, solves, walls = 0, [], []
    while gestures < MOST_GESTURES:
        places = joints_at(editor, times)
        inside = depth(places)
        frame, joint, obstacle = np.unravel_index(int(np.argmax(inside)), inside.shape)
        if inside.max() <= 0:
            break
        away = places[frame, joint] - np.array(OBSTACLES[obstacle][0])
        away[1] = max(away[1], 0.02)  # rather over it than under it
        by = away / np.linalg.norm(away) * (inside.max() + SPARE)
        began = time.perf_counter()
        begun = editor.begin(JOINTS[joint], float(times[frame]))
        for step in range(1, 9):
            to = np.add(begun["place"], by * step / 8).tolist()
            solves.append(editor.drag(begun["gesture"], to=to)["ms"])
        editor.end(begun["gesture"])
        walls.append(time.perf_counter() - began)
        gestures += 1
    after = joints_at(editor, np.array(KEYS))
    assert (depth(joints_at(editor, np.linspace(0, 3, 289))) <= 0.005).all(), "it hits nothing, between frames too"
    assert np.abs(after - poses).max() < 1e-9, "the key poses are what they were"
    state = editor.last_state()
    assert state["keys"] == 28 and all(channel["times"] == list(KEYS) for channel in state["channels"])
    told = f"{gestures} gestures, {len(solves)} drags, {np.median(solves):.1f} ms a drag in the median, "
    told += f"{np.percentile(solves, 95):.1f} at the 95th percentile, {sum(walls):.2f} s in all"
    with capsys.disabled():
        sys.stdout.write(f"\n[robot study] {told}\n")
