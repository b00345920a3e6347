"""Keys as the graph editor changes them: what is asked for happens, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.studio.edit.robot import flight

from understudy.character import Curve, Curves
from understudy.character.curve import LINEAR, STEP
from understudy.edit import keys
from understudy.edit.keys import is_broken, key_slopes
from understudy.edit.serialise import same_curves
from understudy.errors import InvalidInput
from understudy.studio.edit.key_edits import apply_key_changes, channel_numbers
from understudy.studio.messages.edit_keys import (
    ChannelRef,
    EditKeys,
    KeyChange,
    KeyInsert,
    KeyRef,
    KeyRuns,
    KeyTransform,
)

BODY = ("body", "translation")


def body(curves: Curves) -> Curve:
    return curves.curves[0]


def test_nothing_asked_for_changes_nothing() -> None:
    assert same_curves(apply_key_changes(flight(), EditKeys(), 0.0), flight())


def test_a_value_and_a_time() -> None:
    before = flight()
    curves = apply_key_changes(before, EditKeys(changes=(KeyChange(*BODY, 1, 1, 1.25, 5.0),)), 0.0)
    assert body(curves).times.tolist() == [0, 1.25, 2, 3] and body(curves).values[1, 1] == 5.0
    assert all(a is b for a, b in zip(curves.curves[1:], before.curves[1:]))
    moved = keys.move_key(flight(), 1.0, 1.25, [BODY])
    alone = apply_key_changes(flight(), EditKeys(changes=(KeyChange(*BODY, 1, None, 1.25),)), 0.0)
    assert np.allclose(body(alone).before, body(moved).before) and np.allclose(body(alone).after, body(moved).after)


def test_the_clip_may_begin_at_any_time_of_its_file() -> None:
    curves = apply_key_changes(flight(), EditKeys(changes=(KeyChange(*BODY, 2, None, 1.5),)), -0.25)
    assert body(curves).times.tolist() == [0, 1, 1.25, 3]


def test_a_handle_turns_its_other_side_unless_the_key_is_broken_or_both_are_given() -> None:
    one = apply_key_changes(flight(), EditKeys(changes=(KeyChange(*BODY, 1, 0, after=(0.3, 0.9)),)), 0.0)
    arriving, leaving = key_slopes(body(one))
    assert leaving[1, 0] == pytest.approx(3.0) == arriving[1, 0]
    assert body(one).before[1, 0, 0] == body(flight()).before[1, 0, 0], "it keeps its length in time"
    both = apply_key_changes(
        flight(), EditKeys(changes=(KeyChange(*BODY, 1, 0, before=(0.2, 0.0), after=(0.3, 0.9)),)), 0.0
    )
    assert is_broken(body(both))[1].tolist() == [True, False, False]
    loose = apply_key_changes(flight(), EditKeys(keys=(KeyRef(*BODY, 1),), broken=True), 0.0)
    turned = apply_key_changes(loose, EditKeys(changes=(KeyChange(*BODY, 1, 0, after=(0.3, 0.9)),)), 0.0)
    assert np.allclose(body(turned).before[1], body(flight()).before[1])


def test_keys_pass_each_other_and_replace_each_other() -> None:
    past = apply_key_changes(flight(), EditKeys(changes=(KeyChange(*BODY, 1, None, 2.5),)), 0.0)
    assert body(past).times.tolist() == [0, 2, 2.5, 3]
    assert np.array_equal(body(past).values[2], body(flight()).values[1])
    onto = apply_key_changes(flight(), EditKeys(changes=(KeyChange(*BODY, 1, None, 2.0),)), 0.0)
    assert body(onto).times.tolist() == [0, 2, 3] and np.array_equal(body(onto).values[1], body(flight()).values[1])
    row = tuple(KeyChange(*BODY, k, None, k + 1.5) for k in range(3))
    assert body(apply_key_changes(flight(), EditKeys(changes=row), 0.0)).times.tolist() == [1.5, 2.5, 3, 3.5]


@settings(max_examples=20, deadline=None)
@given(
    scale=st.floats(0.4, 1.5),
    offset=st.floats(0.0, 0.4),
    stretch=st.floats(-2, 2).filter(lambda r: abs(r) > 0.1),
    lift=st.floats(-1, 1),
)
def test_all_keys_scaled_scale_the_curve(scale: float, offset: float, stretch: float, lift: float) -> None:
    runs = (KeyRuns(*BODY, None, ((0, 4),)),)
    request = EditKeys(transform=KeyTransform(runs, (scale, offset), (stretch, lift)))
    found = body(apply_key_changes(flight(), request, 0.0))
    t = np.linspace(0, 3, 50)
    assert np.allclose(found.sample(scale * t + offset), stretch * body(flight()).sample(t) + lift, atol=1e-9)


def test_some_keys_moved_keep_smooth_keys_smooth() -> None:
    request = EditKeys(transform=KeyTransform((KeyRuns(*BODY, (0,), ((1, 3),)),), (1.0, 0.2), (1.0, 0.5)))
    found = body(apply_key_changes(flight(), request, 0.0))
    assert np.allclose(found.times, [0, 1.2, 2.2, 3])
    assert np.allclose(found.values[1:3, 0], body(flight()).values[1:3, 0] + 0.5)
    assert np.array_equal(found.values[:, 1:], body(flight()).values[:, 1:]) and not is_broken(found).any()


def test_interpolation_rules_deletion_and_insertion() -> None:
    stepped = apply_key_changes(flight(), EditKeys(changes=(KeyChange(*BODY, 0, interpolation="stepped"),)), 0.0)
    assert body(stepped).segments[0] == STEP
    smooth = apply_key_changes(stepped, EditKeys(changes=(KeyChange(*BODY, 0, interpolation="bezier"),)), 0.0)
    assert body(smooth).sample([0.5])[0, 0] == pytest.approx(-2.0)
    flat = apply_key_changes(flight(), EditKeys(keys=(KeyRef(*BODY, 1),), automatic="flat"), 0.0)
    assert np.allclose(key_slopes(body(flat))[1][1], 0)
    straight = apply_key_changes(flight(), EditKeys(runs=(KeyRuns(*BODY, None, ((0, 4),)),), automatic="linear"), 0.0)
    assert (body(straight).segments == LINEAR).all()
    fewer = apply_key_changes(
        flight(), EditKeys(delete=(KeyRef(*BODY, 1),), delete_runs=(KeyRuns(*BODY, None, ((2, 3),)),)), 0.0
    )
    assert body(fewer).times.tolist() == [0, 3]
    more = apply_key_changes(flight(), EditKeys(insert=(KeyInsert(*BODY, 0.5, 1, 9.0),)), 0.0)
    assert body(more).times.tolist() == [0, 0.5, 1, 2, 3] and body(more).values[1, 1] == 9.0


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (EditKeys(changes=(KeyChange("tail", "rotation", 0, 0, 1.0),)), "no channel rotation of 'tail'"),
        (EditKeys(changes=(KeyChange(*BODY, 9, 0, 1.0),)), "no key 9"),
        (EditKeys(changes=(KeyChange(*BODY, 1, 7, value=1.0),)), "columns 0 to 2"),
        (EditKeys(changes=(KeyChange(*BODY, 1, None, value=1.0),)), "name one"),
        (EditKeys(changes=(KeyChange(*BODY, 1, None, -1.0),)), "before the beginning"),
        (EditKeys(delete_runs=(KeyRuns(*BODY, None, ((0, 4),)),)), "only one"),
        (EditKeys(runs=(KeyRuns(*BODY, None, ((3, 3),)),), broken=True), "run of keys"),
    ],
)
def test_what_makes_no_sense_is_refused(request_: EditKeys, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        apply_key_changes(flight(), request_, 0.0)


def test_channels_by_target_kind_and_number() -> None:
    curves = flight()
    assert channel_numbers(curves, None) == list(range(7))
    assert channel_numbers(curves, [ChannelRef("body")]) == [0, 1]
    assert channel_numbers(curves, [ChannelRef("body", "rotation"), ChannelRef("head", "rotation:2")]) == [1, 2]
    with pytest.raises(InvalidInput, match="no channel"):
        channel_numbers(curves, [ChannelRef("tail")])
