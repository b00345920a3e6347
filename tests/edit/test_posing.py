"""Posing: goals made by turning columns are reached, pins and limits hold, and keys get the pose with their shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cast.dragon import shipped
from tests.data_folder import data_file
from tests.edit import creature, puppets

from understudy import cast
from understudy.character import Curves
from understudy.character.rig import DirectRig
from understudy.edit.goals import Limit, MovePoint, Pin, Point
from understudy.edit.handles import smooth_tangents
from understudy.edit.keys import key_slopes
from understudy.edit.pose_solver import measure_pose
from understudy.edit.posing import _pose_problem, begin_pose, key_pose, pose_character
from understudy.edit.rotation_curves import to_euler
from understudy.edit.solver.free_columns import (
    character_size,
    column_mass,
    column_units,
    find_detached_joints,
    movable_columns,
)
from understudy.errors import InvalidInput
from understudy.formats import registry

HAND = Point("left tip")
ALL = np.array(True)


def place(rig, channels, values, joint: str) -> np.ndarray:
    world = rig.joints(rig.apply_channels(channels, values[None]))[0]
    return world[rig.character.skeleton.index(joint)][:3, 3]


def nudged(rng, channels, values, amount: float, free) -> np.ndarray:
    """A pose near another, turned at random within `free` (C,)."""
    other = values + np.where(free, rng.normal(size=len(values)) * amount, 0.0)
    turning = channels.columns_of("rotation").reshape(-1, 4)
    other[turning] /= np.linalg.norm(other[turning], axis=1, keepdims=True)
    return other


@pytest.mark.parametrize("kind", ["euler", "rotation", "mixed"])
def test_derivatives_match_differences(kind: str) -> None:
    rig, curves = creature.rig(), creature.curves(kind=kind)
    start = curves.sample([0.6])[0]
    points = [MovePoint(HAND, 0, to=(0.5, 2, 0), turn_to=(0, 0, 0, 1)), MovePoint(Point("spine"), 0, by=(0, 0, 0.1))]
    task, _ = _pose_problem(rig, curves.channels, start, curves, points, [Pin(Point("right tip"))], (), {}, ALL)
    rng = np.random.default_rng(1)
    for x in (np.zeros(task.variables.count), rng.normal(size=task.variables.count) * 0.7):
        for number, asked in enumerate((task.moves, task.pins)):
            exact = measure_pose(task, x)[number].matrix
            for n in range(task.variables.count):
                step = np.zeros_like(x)
                step[n] = 1e-5
                # a goal's gap shrinks as its state grows; turns are compared near no gap, where they are linear
                far, near = measure_pose(task, x + step)[number].gap, measure_pose(task, x - step)[number].gap
                numeric = -(far - near)[:, :3].reshape(-1) / 2e-5
                rows = np.concatenate([exact[r : r + 3, n] for r in asked.first_row[:, 0]])
                np.testing.assert_allclose(rows, numeric, atol=1e-8)


def test_turns_have_the_derivatives_of_turns() -> None:
    rig, curves = creature.rig(), creature.curves(kind="rotation")
    task, _ = _pose_problem(rig, curves.channels, curves.sample([0.6])[0], curves, [MovePoint(HAND, 0, by=(0, 0, 0.1))], [Pin(HAND, position=False)], (), {}, ALL)  # fmt: skip # noqa: E501
    x = np.zeros(task.variables.count)  # here the pin has no gap, and its turn is its derivative
    exact = measure_pose(task, x)[1].matrix
    for n in range(task.variables.count):
        step = np.zeros_like(x)
        step[n] = 1e-5
        numeric = -(measure_pose(task, step)[1].residual - measure_pose(task, -step)[1].residual) / 2e-5
        np.testing.assert_allclose(exact[:, n], numeric, atol=1e-8)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from(["euler", "rotation", "mixed"]))
def test_feasible_goals_are_reached_and_pins_hold(seed: int, kind: str) -> None:
    rng, rig, curves = np.random.default_rng(seed), creature.rig(), creature.curves(seed, kind)
    channels, start = curves.channels, curves.sample([1.0])[0]
    above = [name.startswith(("left", "skin")) for name in channels.names]  # so that the right side can stay
    other = nudged(rng, channels, start, 0.25, above)
    goal = place(rig, channels, other, "left tip")
    posed = pose_character(rig, curves, MovePoint(HAND, 0, to=tuple(goal)), Pin(Point("right tip")), time=1.0)
    size = character_size(rig)
    assert posed.reached and posed.distance <= 3e-4 * size and not posed.obstacles
    np.testing.assert_allclose(place(rig, channels, posed.values, "left tip"), goal, atol=4e-4 * size)
    kept = place(rig, channels, posed.values, "right tip") - place(rig, channels, start, "right tip")
    assert np.linalg.norm(kept) <= 1e-4 * size and posed.drift_angle <= 1e-4


def test_a_goal_out_of_reach_is_approached_and_the_pin_named() -> None:
    rig, curves = creature.rig(), creature.curves()
    far = pose_character(rig, curves, MovePoint(HAND, 0, by=(0, 0, 5)), Pin(Point("hips")), time=1.0)
    assert not far.reached and far.distance < far.start_distance
    assert far.obstacles[0].kind == "pin" and "'hips'" in far.obstacles[0].sentence
    assert far.drift <= 1e-4 * character_size(rig)
    world = place(rig, curves.channels, far.values, "left tip") - place(rig, curves.channels, far.values, "spine")
    length = np.linalg.norm(np.array(creature.OFFSETS[2:5]), axis=1)  # the straight chain is as long as its bones
    assert np.linalg.norm(world) > 0.98 * length.sum()


def test_limits_are_never_broken_and_say_so() -> None:
    rig, curves = creature.rig(), creature.curves()
    start = curves.sample([1.0])[0]
    columns = [n for n, name in enumerate(curves.channels.names) if ".euler." in name]
    limits = [Limit(*curves.channels.names[n].split(".euler."), start[n] - 0.1, start[n] + 0.05) for n in columns]
    posed = pose_character(rig, curves, MovePoint(HAND, 0, by=(0, 0.6, 0)), Pin(Point("hips")), *limits, time=1.0)
    change = (posed.values - start)[columns]
    assert change.max() <= 0.05 + 1e-9 and change.min() >= -0.1 - 1e-9
    assert not posed.reached and any(block.kind == "limit" for block in posed.obstacles)


def test_a_column_outside_of_its_limits_is_brought_within() -> None:
    rig, curves = creature.rig(), creature.curves()
    n = curves.channels.names.index("left arm.euler.y")
    value = curves.sample([1.0])[0, n]
    limit = Limit("left arm", "y", value + 0.1, value + 0.5)
    posed = pose_character(rig, curves, MovePoint(HAND, 0, by=(0, 0.02, 0)), limit, time=1.0)
    assert posed.values[n] >= value + 0.1 - 1e-12 and posed.reached


def test_stiffness_decides_who_moves() -> None:
    rig, curves = creature.rig(), creature.curves()
    drag = [MovePoint(HAND, 0, by=(0.05, 0.15, 0))]
    names = curves.channels.names
    spine = [n for n, name in enumerate(names) if name.startswith("spine")]
    soft = pose_character(rig, curves, *drag, time=1.0)
    stiff = pose_character(rig, curves, *drag, time=1.0, stiffness={"spine": 50.0})
    assert soft.reached and stiff.reached
    moved = [np.abs((p.values - p.start)[spine]).max() for p in (soft, stiff)]
    assert moved[1] < 0.02 * moved[0]


def test_the_same_gesture_gives_the_same_pose() -> None:
    rig, curves = creature.rig(), creature.curves(kind="mixed")
    drag = [MovePoint(HAND, 0, by=(0.05, 0.15, 0))]
    np.testing.assert_array_equal(
        pose_character(rig, curves, *drag, time=1.0).values, pose_character(rig, curves, *drag, time=1.0).values
    )


def test_what_is_light_moves_first() -> None:
    """A hand is raised by its arm, and the trunk, which carries all, bends little."""
    rig, curves = creature.rig(), creature.curves()
    cost = column_mass(rig, curves.channels, character_size(rig))
    names = list(curves.channels.names)
    assert cost[names.index("hips.euler.x")] >= cost[names.index("spine.euler.z")]
    assert cost[names.index("spine.euler.z")] > cost[names.index("left arm.euler.y")]
    assert cost[names.index("left tip.euler.x")] >= 1.0
    posed = pose_character(rig, curves, MovePoint(HAND, 0, by=(0.0, 0.15, 0.0)), time=1.0)
    change = np.abs(posed.values - posed.start)
    turned = [
        change[[n for n, name in enumerate(names) if name.startswith(joint)]].max() for joint in ("left", "spine")
    ]
    assert turned[0] > 1.5 * turned[1]


def test_a_pose_changes_as_little_as_it_can() -> None:
    """No pose nearby that reaches the goal as well is cheaper: the cost's gradient lies in the rows of the goal."""
    rig, curves = creature.rig(), creature.curves()
    gesture = begin_pose(rig, curves, [MovePoint(HAND, 0, by=(0.0, 0.2, 0.1))], time=1.0)
    v = gesture.task.variables
    posed = gesture.update(gesture.moves)
    x = (posed.values[gesture.task.states.columns] - v.start)[v.plain] / v.unit
    gradient = v.cost**2 * x
    rows = measure_pose(gesture.task, x)[0].matrix
    along = rows.T @ np.linalg.lstsq(rows.T, gradient, rcond=None)[0]
    assert np.linalg.norm(gradient - along) < 0.05 * np.linalg.norm(gradient)


def test_a_gesture_does_not_remember_the_way() -> None:
    rig, curves = creature.rig(), creature.curves(kind="mixed")

    def drag(height: float) -> list[MovePoint]:
        return [MovePoint(HAND, 0, by=(0.05, height, 0))]

    gesture = begin_pose(rig, curves, drag(0.0), time=1.0)
    wandered = [gesture.update(drag(height)).values for height in (0.3, -0.2, 5.0, 0.15)]
    np.testing.assert_array_equal(wandered[-1], pose_character(rig, curves, *drag(0.15), time=1.0).values)
    with pytest.raises(InvalidInput, match="began with"):
        gesture.update([MovePoint(Point("spine"), 0, by=(0, 0.1, 0))])


def test_bones_do_not_stretch() -> None:
    """A row of the rig has translations and scales of every joint; only those that nothing skinned carries change."""
    rig = DirectRig(puppets.arm())
    posed = pose_character(rig, rig.rest, MovePoint(Point("rig:hand"), 0, by=(-0.2, 0.3, 0.1)))
    assert posed.reached
    changed = {rig.channels.names[n] for n in np.flatnonzero(posed.values != posed.start)}
    stretching = {name for name in changed if ".rotation." not in name}
    assert all(name.startswith(("rig:stand.translation", "rig:upper.translation")) for name in stretching)
    assert any(name.startswith("rig:fore.rotation") for name in changed)


def test_what_is_named_is_freed() -> None:
    rig = DirectRig(puppets.arm())
    unit = column_units(rig, rig.channels, 1.0)
    plain, named = (movable_columns(rig, rig.channels, unit, None, names) for names in ((), ("rig:fore.scale",)))
    more = np.flatnonzero(named & ~plain)
    assert [rig.channels.names[n] for n in more] == [f"rig:fore.scale.{axis}" for axis in "xyz"]
    assert find_detached_joints(rig) == {"rig:stand", "rig:upper"}  # nothing hangs on the stand itself


@pytest.mark.parametrize("kind", ["euler", "rotation"])
def test_key_pose_keeps_the_keys_and_the_shape_of_tangents(kind: str) -> None:
    rig, curves = creature.rig(), creature.curves(kind=kind)
    posed = pose_character(rig, curves, MovePoint(HAND, 0, by=(0.05, 0.15, 0)), time=1.0)
    keyed = key_pose(curves, 1.0, posed)
    assert keyed.key_count == curves.key_count
    np.testing.assert_allclose(keyed.sample([1.0])[0], posed.values, atol=1e-9)
    others = [0.0, 2.0, 2.5, 3.0]
    np.testing.assert_array_equal(keyed.sample(others), curves.sample(others))
    for one, other in zip(curves.curves, keyed.curves):
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_array_equal(one.before[..., 0], other.before[..., 0])
        lengths = [np.linalg.norm(key_slopes(curve)[1][1]) for curve in (one, other)]
        assert lengths[0] == pytest.approx(lengths[1])


def test_key_pose_refuses_where_there_is_no_key_unless_asked() -> None:
    rig, curves = creature.rig(), creature.curves()
    posed = pose_character(rig, curves, MovePoint(HAND, 0, by=(0.05, 0.15, 0)), time=1.5, insert=True)
    with pytest.raises(InvalidInput, match=r"no key at 1.5 s of"):
        key_pose(curves, 1.5, posed)
    with pytest.raises(InvalidInput, match=r"no channel has a key at 1.5 s"):
        pose_character(rig, curves, MovePoint(HAND, 0, by=(0.05, 0.15, 0)), time=1.5)
    keyed = key_pose(curves, 1.5, posed, insert=True)
    np.testing.assert_allclose(keyed.sample([1.5])[0], posed.values, atol=1e-9)
    np.testing.assert_allclose(keyed.sample([0.5, 2.5]), curves.sample([0.5, 2.5]), atol=1e-9)


def test_bad_input_is_one_sentence() -> None:
    rig, curves = creature.rig(), creature.curves()
    drag = [MovePoint(HAND, 0, by=(0, 0.1, 0))]
    for text, call in {
        "pinned and moved": lambda: pose_character(rig, curves, *drag, Pin(HAND), time=1.0),
        "needs a time": lambda: pose_character(rig, curves, *drag),
        "within animation": lambda: pose_character(rig, curves, *drag, time=99.0),
        "at least one move": lambda: pose_character(rig, curves, time=1.0),
        "has no joint 'tail'|tail": lambda: pose_character(
            rig, curves, MovePoint(Point("tail"), 0, by=(0, 0, 1)), time=1.0
        ),
        "stiffness": lambda: pose_character(rig, curves, *drag, time=1.0, stiffness={"tail": 2.0}),
        "row of the rig": lambda: pose_character(rig, np.full(rig.channels.width, np.nan), *drag),
        "other channels": lambda: key_pose(
            curves, 0.0, pose_character(rig, creature.curves(kind="rotation"), *drag, time=0.0)
        ),
    }.items():
        with pytest.raises(InvalidInput, match=text):
            call()


def test_the_lamp_looks_up_within_its_own_limits() -> None:
    asset = cast.load("lamp")
    rig, animation = DirectRig(asset.characters[0]), asset.animations[0]
    assert isinstance(animation, Curves) or animation is not None
    curves = animation if isinstance(animation, Curves) else None
    if curves is None:
        pytest.skip("the lamp's first animation is not of curves")
    curves = to_euler(curves, "XYZ")
    names = curves.channels.names
    t = curves.start
    start = curves.sample([t])[0]
    limits = []
    for joint, axes in cast.limits("lamp").items():
        for axis, (low, high) in axes.items():
            if f"{joint}.euler.{axis}" in names:
                at = start[names.index(f"{joint}.euler.{axis}")]
                limits.append(Limit(joint, axis, min(np.radians(low), at), max(np.radians(high), at)))
    posed = pose_character(rig, curves, MovePoint(Point("Head"), 0, by=(0.0, 0.03, 0.05)), Pin(Point("Base")), *limits, time=t)  # fmt: skip # noqa: E501
    assert posed.drift <= 1e-4 * character_size(rig)
    assert posed.distance < 0.1 * posed.start_distance
    for limit in limits:
        value = posed.values[names.index(f"{limit.target}.euler.{limit.column}")]
        assert limit.low - 1e-9 <= value <= limit.high + 1e-9


def test_the_dragon_by_its_controls() -> None:
    """A layered rig has no derivatives of its own; controls count in halves of their ranges and stay within them."""
    rig, rng = shipped.rig(), np.random.default_rng(3)
    controls = shipped.controls()
    share = rng.uniform(-0.3, 0.3, len(controls.names))
    other = np.where(share > 0, controls.rest + share * (controls.high - controls.rest), controls.rest + share * (controls.rest - controls.low))  # fmt: skip # noqa: E501
    skeleton = rig.character.skeleton
    moving = np.linalg.norm(rig.joints(other[None])[0, :, :3, 3] - rig.joints(rig.rest[None])[0, :, :3, 3], axis=1)
    joint = skeleton.names[int(np.argmax(moving))]
    goal = rig.joints(other[None])[0, skeleton.index(joint), :3, 3]
    posed = pose_character(rig, rig.rest, MovePoint(Point(joint), 0, to=tuple(goal)))
    assert posed.reached
    assert (posed.values >= controls.low - 1e-9).all() and (posed.values <= controls.high + 1e-9).all()
    after = rig.joints(posed.values[None])[0, skeleton.index(joint), :3, 3]
    np.testing.assert_allclose(after, goal, atol=4e-4 * character_size(rig))


@pytest.mark.parametrize(
    ("file", "hand", "foot"),
    [
        ("gltf_quaternius/platformer_game_pack_Character.glb", "Fist.R", "Head"),
        ("gltf_quaternius/easy_enemies_pack_Spider.glb", "FrontLeg3.L_end", "BackLeg3.L_end"),
        ("gltf_kaykit/Knight.glb", "hand.r", "foot.l"),
        ("bvh_cmu/02_01.bvh", "RightHand", "LeftFoot"),
    ],
)
def test_real_characters_reach_what_they_can(file: str, hand: str, foot: str) -> None:
    asset = registry.read(str(data_file(file)))
    rig, animation = DirectRig(asset.characters[0]), asset.animations[0]
    size, skeleton = character_size(rig), asset.characters[0].skeleton
    rng = np.random.default_rng(7)
    row = rig.pose(animation, [animation.frame_times()[len(animation.frame_times()) // 2]])[0]
    arm = set(skeleton.ancestors(skeleton.index(hand))) - set(skeleton.ancestors(skeleton.index(foot)))
    names = tuple(f"{skeleton.names[j]}.rotation." for j in arm)
    free = np.array([name.startswith(names) for name in rig.channels.names])
    for _ in range(5):
        goal = place(rig, rig.channels, nudged(rng, rig.channels, row, 0.15, free), hand)
        posed = pose_character(rig, row, MovePoint(Point(hand), 0, to=tuple(goal)), Pin(Point(foot)))
        assert posed.reached and posed.drift <= 1e-4 * size and posed.drift_angle <= 1e-4
        np.testing.assert_allclose(place(rig, rig.channels, posed.values, hand), goal, atol=4e-4 * size)


def test_a_pose_at_a_key_uses_channels_with_keys_there() -> None:
    rig, curves = creature.rig(), creature.curves(3, shared=False)
    arm = next(curve for curve in curves.curves if curve.channel.target == "left arm")
    time = float(arm.times[1])
    posed = pose_character(rig, curves, MovePoint(HAND, 0, by=(0.0, 0.03, 0.0)), time=time)
    moved = {curves.channels.names[n].split(".")[0] for n in np.flatnonzero(posed.values != posed.start)}
    assert moved == {"left arm"}
    assert key_pose(curves, time, posed).key_count == curves.key_count
    assert len(pose_character(rig, curves, MovePoint(HAND, 0, by=(0.0, 0.03, 0.0)), time=time, insert=True).values) > 0


def test_smooth_keys_stay_smooth() -> None:
    rig, curves = puppets.rig(), smooth_tangents(puppets.wave())
    posed = pose_character(rig, curves, MovePoint(Point("rig:hand"), 0, by=(0.05, 0.1, 0)), time=0.5)
    keyed = key_pose(curves, 0.5, posed)
    for curve in keyed.curves:
        arriving, leaving = key_slopes(curve)
        np.testing.assert_allclose(arriving[1], leaving[1], atol=1e-9)
