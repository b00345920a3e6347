"""Takes: rows at one rate, without poses that were only put in front."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file, data_files
from tests.perform import small_world

from understudy.character import Channel, Clip
from understudy.character.rig import rig_of
from understudy.errors import InvalidInput
from understudy.formats import registry
from understudy.maths import quaternion
from understudy.perform import library


def with_inserted(clip: Clip, turn: float) -> Clip:
    values = clip.values.copy()
    values[0, :4] = quaternion.multiply(quaternion.from_axis_angle([1, 0, 0], turn), values[1, :4])
    values[0, 4:] = quaternion.multiply(quaternion.from_axis_angle([0, 0, 1], turn), values[1, 4:])
    return Clip(clip.name, clip.channels, values, clip.rate, clip.start)


def test_an_inserted_pose_is_found_and_left_out() -> None:
    clip = small_world.clip("Walk", 40)
    assert not library.has_inserted_frame(clip)
    posed = with_inserted(clip, 1.5)
    assert library.has_inserted_frame(posed)
    np.testing.assert_allclose(library.times_of(posed, 24.0), clip.times[1:])
    np.testing.assert_allclose(library.times_of(posed, 12.0)[0], clip.times[1])


def test_a_large_step_among_others_is_motion() -> None:
    clip = small_world.clip("Walk", 40, rate=2.0)
    assert not library.has_inserted_frame(clip)
    assert not library.has_inserted_frame(with_inserted(small_world.clip("Walk", 9), 1.5)), "too short to tell"


def test_cmu_files_all_have_one() -> None:
    paths = data_files("bvh_cmu/*.bvh")
    if not paths:
        data_file("bvh_cmu/79_69.bvh")
    assert all(library.has_inserted_frame(registry.read(path).clips[0]) for path in paths)


@pytest.mark.parametrize(
    ("rates", "wanted"),
    [((24, 24, 120), 24), ((25,), 25), ((120,), 30), ((60, 60, 24), 30), ((24, 30), 30), ((12, 12, 24), 12), ((), 30)],
)
def test_the_rate_is_that_of_most_clips_up_to_30(rates: tuple[float, ...], wanted: float) -> None:
    clips = [small_world.clip(f"c{i}", rate=rate) for i, rate in enumerate(rates)]
    assert library.common_rate(clips) == wanted


def test_rows_at_the_clips_own_rate_are_its_frames() -> None:
    clip, rig = small_world.clip("Walk", 30), rig_of(small_world.character())
    rows = library.rows_of(rig, clip, library.times_of(clip, clip.rate), clip.name)
    np.testing.assert_allclose(rows[:, rig.channels.slice("arm", "rotation")], clip.values[:, :4], atol=1e-15)
    assert not rows.flags.writeable


def test_rotations_are_of_unit_length_and_continuous() -> None:
    clip, rig = small_world.clip("Walk", 30), rig_of(small_world.character())
    rough = Clip("rough", clip.channels, clip.values * 1.0005, clip.rate)
    rows = library.rows_of(rig, rough, library.times_of(rough, 60.0), "rough")
    turns = rows[:, rig.channels.columns_of("rotation").reshape(-1, 4)]
    np.testing.assert_allclose(np.linalg.norm(turns, axis=-1), 1, atol=1e-14)
    assert (np.einsum("fri,fri->fr", turns[1:], turns[:-1]) > 0).all()


def test_nan_is_told_with_its_place() -> None:
    rig = rig_of(small_world.character())
    clip = small_world.clip("Walk", 30)

    class Holed(type(rig)):  # type: ignore[misc]
        def pose(self, animation: Clip, times: object = None) -> np.ndarray:
            rows = super().pose(animation, times)
            rows[7, 2] = np.nan
            return rows

    with pytest.raises(InvalidInput, match=r"clip 'Walk' should be finite, but root.translation.z is nan at frame 7"):
        library.rows_of(Holed(rig.character), clip, clip.times, "Walk")


def test_another_characters_clip_is_told() -> None:
    clip = Clip("Fly", [Channel("wing", "rotation")], np.tile([0, 0, 0, 1.0], (5, 1)), 24.0)
    with pytest.raises(InvalidInput, match="'Fly' moves nothing of character 'hero': it drives 'wing'"):
        library.rows_of(rig_of(small_world.character()), clip, clip.times, "Fly")
