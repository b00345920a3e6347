"""Libraries: clips under labels, and one clear sentence for each thing that cannot be learned from."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform import small_world

from understudy.character import Asset, Channel, Clip
from understudy.errors import InvalidInput
from understudy.perform import library as libraries
from understudy.perform.library import ClipLibrary


def test_a_clip_without_labels_is_a_label_of_its_own() -> None:
    library = ClipLibrary.from_asset(small_world.asset())
    assert library.labels == ("Walk", "Run", "Cheer")
    assert [take.clip for take in library.takes] == ["Walk", "Run", "Cheer"]
    assert library.rate == 24
    assert library.notes == ()


def test_clips_keep_their_own_labels() -> None:
    clips = [small_world.clip("a", labels=("happy",)), small_world.clip("b", labels=("happy", "calm"))]
    library = ClipLibrary.from_asset(small_world.asset(*clips))
    assert library.labels == ("happy", "calm")
    assert [take.clip for take in library.of_label("happy")] == ["a", "b"]
    assert [take.clip for take in library.of_label("calm")] == ["b"]


def test_blenders_names_are_made_short_where_they_stay_distinct() -> None:
    clips = [small_world.clip("Rig|Walk"), small_world.clip("Rig|Run")]
    assert ClipLibrary.from_asset(small_world.asset(*clips)).labels == ("Walk", "Run")
    clips.append(small_world.clip("Other|Run"))
    assert ClipLibrary.from_asset(small_world.asset(*clips)).labels == ("Rig|Walk", "Rig|Run", "Other|Run")


def test_labels_can_be_given_by_name_and_pattern() -> None:
    clips = [small_world.clip(name) for name in ("happy_1", "happy_2", "Rig|sad", "other")]
    library = ClipLibrary.from_asset(
        small_world.asset(*clips), labels={"happy": ["happy_*", "happy_1"], "sad": ["sad"]}
    )
    assert [(take.label, take.clip) for take in library.takes] == [
        ("happy", "happy_1"),
        ("happy", "happy_2"),
        ("sad", "Rig|sad"),
    ]


def test_all_takes_have_the_same_rate_and_notes_say_what_was_sampled() -> None:
    clips = [small_world.clip("Walk", 25), small_world.clip("Run", 25), small_world.clip("Jump", 121, rate=120.0)]
    library = ClipLibrary.from_asset(small_world.asset(*clips))
    assert [len(take) for take in library.takes] == [25, 25, 25]
    assert {take.rate for take in library.takes} == {24.0}
    assert library.notes == ("clips of 120 frames a second were sampled at 24: 'Jump'",)
    assert ClipLibrary.from_asset(small_world.asset(*clips), rate=12).rate == 12


def test_clips_without_motion_are_poses() -> None:
    """One T-pose used to end the learning of a whole file."""
    still = small_world.clip("Still", 12)
    still = Clip("Still", still.channels, np.tile(still.values[:1], (12, 1)), 24.0)
    clips = [small_world.clip("Walk"), small_world.clip("Lie", 1), small_world.clip("TPose", 2), still]
    library = ClipLibrary.from_asset(small_world.asset(*clips))
    assert library.labels == ("Walk",)
    assert set(library.poses) == {"Lie", "TPose", "Still"}
    assert library.behaviours["TPose"].kind == library.behaviours["Still"].kind == "pose"
    arm = library.rig.channels.slice("arm", "rotation")
    np.testing.assert_allclose(library.poses["Lie"][arm], clips[1].values[0, :4], atol=1e-15)
    assert "clips without motion are poses, not labels: 'Lie', 'TPose', 'Still'" in library.notes


def test_a_label_of_stills_is_no_label_but_a_pose() -> None:
    asset = small_world.asset(small_world.clip("Walk"), small_world.clip("Lie", 1))
    library = ClipLibrary.from_asset(asset, labels={"calm": ["Lie"], "go": ["Walk"]})
    assert library.labels == ("go",) and set(library.poses) == {"calm"}


def test_one_bad_clip_is_left_out() -> None:
    """A clip that cannot be used used to end the learning of all others."""
    asset = small_world.asset(WALK, FLY)
    library = ClipLibrary.from_asset(asset, labels={"go": ["Walk"], "fly": ["Fly"]})
    assert library.labels == ("go",)
    assert any("clip 'Fly' was left out: " in note for note in library.notes)


def test_clips_of_another_character_are_left_out_and_told() -> None:
    wing = Clip("Fly", [Channel("wing", "rotation")], np.tile([0, 0, 0, 1.0], (5, 1)), 24.0)
    library = ClipLibrary.from_asset(small_world.asset(small_world.clip("Walk"), wing))
    assert library.labels == ("Walk",)
    assert library.notes == ("clips that move nothing of 'hero' were left out: 'Fly'",)


def test_channels_that_the_character_has_not_are_told() -> None:
    walk = small_world.clip("Walk")
    values = np.concatenate([walk.values, np.tile([0, 0, 0, 1.0], (len(walk), 1))], axis=1)
    more = Clip("Walk", [*walk.channels, Channel("tail", "rotation")], values, 24.0)
    assert ClipLibrary.from_asset(small_world.asset(more)).notes == (
        "clip 'Walk' also moves what 'hero' has not: 'tail'",
    )


def test_poses_and_what_is_apart_are_kept() -> None:
    rest = ClipLibrary.from_asset(small_world.asset()).rig.rest
    library = ClipLibrary.from_asset(small_world.asset(), apart=["hand"], poses={"rest": rest}, source="hero.glb")
    assert library.excluded_columns == ("hand",)
    np.testing.assert_array_equal(library.poses["rest"], rest)
    assert (library.source, library.origin) == ("hero.glb", "hero.glb")


WALK = small_world.clip("Walk")
ONE = small_world.clip("Lie", 1)
FLY = Clip("Fly", [Channel("wing", "rotation")], np.tile([0, 0, 0, 1.0], (5, 1)), 24.0)


@pytest.mark.parametrize(
    ("asset", "options", "said"),
    [
        (Asset(), {}, "hero.glb has no character; a library file can give one to its clips"),
        (Asset([small_world.character()]), {}, "hero.glb has no clips, but learning needs at least one"),
        (small_world.asset(ONE), {}, "hero.glb should have a clip that moves, but has none: 'Lie' stands still"),
        (small_world.asset(FLY), {}, "animation 'Fly' moves nothing of character 'hero'"),
        (small_world.asset(WALK), {"labels": {"calm": []}}, "label 'calm' should have at least one clip"),
        (
            small_world.asset(WALK),
            {"labels": {"calm": ["Wlak"]}},
            r"'Wlak' \(did you mean 'Walk'\?\); available: 'Walk'",
        ),
        (small_world.asset(WALK, FLY), {"labels": {"x": ["Fly"]}}, "'Fly' moves nothing of character 'hero'"),
        (small_world.asset(WALK), {"rate": 0}, "rate should be a finite number above zero"),
        (small_world.asset(WALK), {"poses": {"a": [1.0, 2.0]}}, r"pose 'a' should have shape \(30\)"),
        (small_world.asset(WALK), {"character": "villain"}, "there is no character 'villain'; available: 'hero'"),
    ],
)
def test_mistakes_are_told_in_one_sentence(asset: Asset, options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        ClipLibrary.from_asset(asset, source="hero.glb", **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_more_than_fits_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "MAX_ROW_BYTES", 1000)
    with pytest.raises(InvalidInput, match="60 frames of 30 columns would take"):
        ClipLibrary.from_asset(small_world.asset())


def test_an_unknown_label_is_told() -> None:
    with pytest.raises(InvalidInput, match="there is no label 'x'; available: 'Walk'"):
        ClipLibrary.from_asset(small_world.asset(WALK)).of_label("x")
