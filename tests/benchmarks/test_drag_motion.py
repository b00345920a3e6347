"""Measures of drags on a small arm whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.baselines.falloff_key import add_bump, edit_by_falloff_key, raised_cosine
from benchmarks.measures import drag_motion
from benchmarks.measures.drag_motion import measure_drag, sample_motion
from benchmarks.real import instant_ik
from benchmarks.real.drag_cases import longest_still_span

from understudy.character import Channel, Character, Curve, Curves, Skeleton
from understudy.character.curve import LINEAR
from understudy.character.rig import DirectRig
from understudy.edit.goals import Contact, Edit, Limit, MovePoint, Pin, Point

SIZE = 2.0  # the arm is stretched along x: root, shoulder, elbow at 1 m, hand at 2 m; a tail leads to -x
NAMES = ("root", "upper", "lower", "hand", "tail")


@pytest.fixture(scope="module")
def rig() -> DirectRig:
    skeleton = Skeleton(
        NAMES, [-1, 0, 1, 2, 0], [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0], [-0.5, 0, 0]], [[0, 0, 0, 1]] * 5
    )
    return DirectRig(Character("arm", skeleton))


def arm(upper, lower, root=None, times=None) -> Curves:
    """Angles about z and places of the root at times, linear in between."""
    times = np.linspace(0, 2, len(upper)) if times is None else times
    zero = np.zeros(len(times))
    euler = [np.stack([zero, zero, np.asarray(angle, float)], axis=1) for angle in (upper, lower)]
    root = np.zeros((len(times), 3)) if root is None else root
    return Curves(
        "arm",
        [
            Curve(Channel("root", "translation"), times, root, LINEAR),
            Curve(Channel("upper", "euler", ("x", "y", "z")), times, euler[0], LINEAR),
            Curve(Channel("lower", "euler", ("x", "y", "z")), times, euler[1], LINEAR),
            Curve(Channel("tail", "euler", ("x", "y", "z")), times, np.zeros((len(times), 3)), LINEAR),
        ],
        rate=120.0,
    )


TIMES = np.linspace(0, 2, 241)


def bulge(height, radius=0.5):
    return height * raised_cosine(TIMES - 1.0, radius)[0]


def lift(rig, before_root, after_root, edit, radius=0.5, **more):
    """Measures of a change of the root's path (F, 3), the arm straight."""
    still = np.zeros(len(TIMES))
    motions = [sample_motion(rig, arm(still, still, root, TIMES), TIMES) for root in (before_root, after_root)]
    goals = [(instant_ik.goal_place(rig, motions[0].curves, m), instant_ik.goal_turn(m)) for m in edit.moves]
    return measure_drag(*motions, edit, goals, SIZE, "tail", ("hand", "tail"), radius, **more)


def along_y(values):
    path = np.zeros((len(TIMES), 3))
    path[:, 1] = values
    return path


MOVE = Edit((MovePoint("hand", 1.0, by=(0, 0.2, 0)),))


def test_a_clean_bulge_moves_as_far_as_asked_and_nothing_beyond_the_window(rig) -> None:
    wave = 0.3 * np.sin(4 * np.pi * TIMES)
    m = lift(rig, along_y(wave), along_y(wave + bulge(0.2)), MOVE)
    assert m.goal_mm == pytest.approx(0, abs=1e-9)
    assert m.furthest == pytest.approx(1) and m.beyond == pytest.approx(0, abs=1e-9)
    assert m.turns == 0 and m.keys_same and m.held_mm == 0


def test_a_miss_an_overshoot_and_a_reach_in_time_are_told(rig) -> None:
    change = bulge(0.19) + 0.6 * raised_cosine(TIMES - 1.7, 0.2)[0]
    m = lift(rig, along_y(0 * TIMES), along_y(change), MOVE)
    assert m.goal_mm == pytest.approx(0.01 / SIZE * 1700)
    assert m.furthest == pytest.approx(3.0)
    assert m.beyond == pytest.approx(3.0)
    assert lift(rig, along_y(0 * TIMES), along_y(change), MOVE, radius=1.0).beyond == 0


def test_acceleration_is_over_its_own_peak(rig) -> None:
    peak = 0.5 * 0.2 * (np.pi / 0.5) ** 2  # of the bulge
    w = 2 * np.pi
    wave = 2 * peak / w**2 * np.cos(w * (TIMES - 1.0))  # its own peak is twice that, downward at the moment
    m = lift(rig, along_y(wave), along_y(wave + bulge(0.2)), MOVE)
    assert m.acceleration == pytest.approx(1.5, rel=0.01)
    still = lift(rig, along_y(0 * TIMES), along_y(bulge(0.2)), MOVE)
    assert still.acceleration == pytest.approx(peak / (drag_motion.MIN_PEAK_SIZES_S2 * SIZE), rel=0.01)
    assert still.local_acceleration == pytest.approx(1.0, rel=0.01)
    jolt = 0.5 * np.exp(
        -(((TIMES - 0.1) / 0.01) ** 2)
    )  # hides every peak of the whole clip, and none within the window
    thrown = lift(rig, along_y(jolt), along_y(jolt + bulge(0.2) + bulge(0.1, 0.05)), MOVE)
    assert thrown.acceleration == pytest.approx(1.0, rel=1e-6) and thrown.local_acceleration > 20


def test_joints_that_are_not_on_the_chain_count_as_moved_and_the_dragged_limb_does_not(rig) -> None:
    m = lift(rig, along_y(0 * TIMES), along_y(bulge(0.2)), MOVE)
    assert m.head == pytest.approx(1.0)  # the tail stands for the head here
    assert m.others == m.worst_other == pytest.approx(1.0)
    tail = replace(MOVE, moves=(MovePoint("tail", 1.0, by=(0, 0.2, 0)),))
    assert np.isnan(lift(rig, along_y(0 * TIMES), along_y(bulge(0.2)), tail).head)


def test_pins_and_contacts_are_held_at_all_times_in_place_and_in_turn(rig) -> None:
    pinned = replace(MOVE, pins=(Pin("tail", orientation=False),))
    assert lift(rig, along_y(0 * TIMES), along_y(bulge(0.2)), pinned).held_mm == pytest.approx(0.2 / SIZE * 1700)
    late = replace(MOVE, pins=(Pin("tail", start=1.6),))
    assert lift(rig, along_y(0 * TIMES), along_y(bulge(0.2)), late).held_mm == pytest.approx(0, abs=1e-9)
    creep = 0.01 * TIMES
    contact = replace(MOVE, contacts=(Contact("tail", 1.5, 2.0),))
    assert lift(rig, along_y(creep), along_y(creep), contact).held_mm == pytest.approx(0.005 / SIZE * 1700, rel=1e-6)
    still, turned = np.zeros(len(TIMES)), bulge(0.1)
    motions = [sample_motion(rig, arm(a, still, times=TIMES), TIMES) for a in (still, turned)]
    turning = Edit(MOVE.moves, pins=(Pin("upper"),))  # the joint turns about its own place
    assert drag_motion.held_error(*motions, turning, SIZE) == pytest.approx(0.1 * 0.1 * SIZE)


def test_what_a_contact_asks_for_is_not_beyond_the_window(rig) -> None:
    outside = drag_motion.outside_window(TIMES, replace(MOVE, contacts=(Contact("tail", 1.6, 1.8),)), 0.5, False)
    assert not outside[(TIMES >= 1.6) & (TIMES <= 1.8)].any() and outside[(TIMES > 1.81) | (TIMES < 0.49)].all()
    looped = drag_motion.outside_window(TIMES, Edit((MovePoint("hand", 0.1, by=(0, 1, 0)),)), 0.3, True)
    assert not looped[-20:].any() and looped[60:200].all()


def test_a_goal_that_turns_counts_its_angle(rig) -> None:
    still = np.zeros(len(TIMES))
    motions = [sample_motion(rig, arm(still, angle, times=TIMES), TIMES) for angle in (still, bulge(0.4))]
    edit = Edit((MovePoint("lower", 1.0, turn_to=(0, 0, np.sin(0.2), np.cos(0.2))),))
    m = measure_drag(*motions, edit, [(None, instant_ik.goal_turn(edit.moves[0]))], SIZE, "tail", ("tail",), 0.5)
    assert m.goal_mm == pytest.approx(0, abs=1e-6) and m.furthest == pytest.approx(1, rel=1e-6)
    # The hand goes along the circle of the lower arm; its way, and not the larger turn, is what it is measured by.
    goal = (1 + np.cos(0.4), np.sin(0.4), 0.0)
    both = Edit((MovePoint("hand", 1.0, to=goal, turn_to=(0, 0, np.sin(0.2), np.cos(0.2))),))
    m = measure_drag(*motions, both, [(np.array(goal), instant_ik.goal_turn(both.moves[0]))], SIZE, "tail", (), 0.5)
    assert m.goal_mm == pytest.approx(0, abs=1e-6) and m.furthest == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(("angle", "turns"), [(1.0, 0), (-2.9, 0), (2 * np.pi, 1), (-4.2 * 2 * np.pi, 4)])
def test_whole_turns_that_were_not_made_before_are_counted(rig, angle: float, turns: int) -> None:
    still = np.zeros(len(TIMES))
    motions = [sample_motion(rig, arm(still, a, times=TIMES), TIMES) for a in (still, bulge(angle))]
    # A bulge of n turns goes n turns there and n back, so the joint travels 2 n more.
    assert drag_motion.extra_turns(*motions) >= turns
    assert (drag_motion.extra_turns(*motions) == 0) == (turns == 0)
    assert drag_motion.extra_turns(motions[1], motions[1]) == 0  # made before


def test_key_times_limits_and_seams(rig) -> None:
    before = arm([0, 0.5, 0], [0, 0, 0])
    assert drag_motion.same_key_times(before, arm([0, 0.7, 0], [0, 0, 0]))
    assert not drag_motion.same_key_times(before, arm([0, 0.1, 0.5, 0], [0, 0, 0, 0]))
    motion = sample_motion(rig, before)
    assert drag_motion.limit_excess(motion, [Limit("upper", "z", -1, 0.3)]) == pytest.approx(0.2)
    assert drag_motion.limit_excess(motion, [Limit("upper", "z", -1, 0.6)]) == 0
    opened = sample_motion(rig, arm([0, 0.5, np.pi / 2], [0, 0, 0]))
    assert drag_motion.seam_opening(motion, opened) == pytest.approx(2 * np.sqrt(2))  # the hand, from x to y


def test_instant_ik_finds_a_pose_within_reach_and_none_beyond(rig) -> None:
    curves = arm([0.3, 0.5, 0.3], [0.2, 0.4, 0.3])
    for by, possible in (((-0.2, 0.1, 0), True), ((1.0, 1.0, 0), False)):
        goals = instant_ik.goals_at(rig, curves, Edit((MovePoint("hand", 1.0, by=by),)), 1.0)
        limb = instant_ik.limb_columns(rig, curves, Point("hand"), 1.0)
        assert limb.sum() == 6  # two joints, and not the root's place
        pose = instant_ik.solve_instant(rig, curves, 1.0, goals, limb)
        assert pose.met == possible
        rows = rig.apply_channels(curves.channels, pose.values[None])
        off = np.linalg.norm(rig.joints(rows)[0, 3, :3, 3] - goals[0].place) / instant_ik.character_size(rig)
        assert off == pytest.approx(pose.distance, abs=1e-9)


def test_instant_ik_stays_within_limits_and_counts_what_is_held(rig) -> None:
    curves = arm([0.3, 0.5, 0.3], [0.2, 0.4, 0.3])
    edit = Edit((MovePoint("hand", 1.0, by=(-1.0, -0.3, 0)),))
    limb = instant_ik.limb_columns(rig, curves, Point("hand"), 1.0)
    goals = instant_ik.goals_at(rig, curves, edit, 1.0)
    assert instant_ik.solve_instant(rig, curves, 1.0, goals, limb).met
    tight = [Limit("lower", column, -0.5, 0.5) for column in "xyz"]
    pose = instant_ik.solve_instant(rig, curves, 1.0, goals, limb, tight)
    assert not pose.met and np.abs(pose.values[6:9]).max() <= 0.5 + 1e-9
    held = instant_ik.goals_at(rig, curves, replace(edit, pins=(Pin("lower"),)), 1.0)
    assert not instant_ik.solve_instant(rig, curves, 1.0, held, limb).met


def test_the_falloff_key_meets_its_goal_and_fades_out_smoothly(rig) -> None:
    times = np.array([0.0, 0.4, 0.8, 1.3, 2.0])
    curves = arm([0.3, 0.5, 0.3, 0.4, 0.2], [0.2, 0.4, 0.3, 0.5, 0.4], times=times)
    edit = Edit((MovePoint("hand", 1.0, by=(-0.1, 0.15, 0.05)),))
    after = edit_by_falloff_key(rig, curves, edit, 0.5)
    motions = [sample_motion(rig, each, TIMES) for each in (curves, after)]
    goals = [(instant_ik.goal_place(rig, curves, edit.moves[0]), None)]
    m = measure_drag(*motions, edit, goals, SIZE, "tail", ("tail",), 0.5)
    assert m.goal_mm < 0.5 and m.beyond < 1e-9 and m.furthest < 1.1 and m.head == 0 and not m.keys_same


def test_a_bump_on_a_curve_is_the_raised_cosine_at_its_keys() -> None:
    curve = Curve(Channel("upper", "euler", ("x", "y", "z")), [0, 1, 2], np.zeros((3, 3)), LINEAR)
    new = add_bump(curve, 0.9, np.array([1.0, -2.0, 0.0]), 0.5)
    away = np.linspace(-0.5, 0.5, 101)
    assert np.allclose(new.sample(0.9 + away)[:, 0], raised_cosine(away, 0.5)[0], atol=0.02)
    assert np.allclose(new.sample([0.2, 0.9, 1.45])[:, 1], [0, -2, 0], atol=1e-12)


def test_a_foot_stands_where_it_hardly_creeps() -> None:
    path = np.zeros((241, 3))
    path[:, 0] = np.where(TIMES < 0.5, 0.5 - TIMES, np.where(TIMES > 1.5, TIMES - 1.5, 0.001 * (TIMES - 0.5)))
    start, stop = longest_still_span(TIMES, path, 0.0015)
    assert start == pytest.approx(0.5, abs=0.01) and stop == pytest.approx(1.5, abs=0.01)
