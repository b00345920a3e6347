"""Models of a project: where a performance begins, and what the document says of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from understudy.errors import InvalidInput
from understudy.perform.pose_model import ModelWithCharacter
from understudy.studio.document import Document
from understudy.studio.perform.models import calm_label, entry_of, find_model, label_for, pose_gaps, with_model


@pytest.mark.parametrize(
    ("labels", "calm"),
    [
        (("roar", "neutral", "idle"), "neutral"),
        (("Run", "Idle_B", "Walk"), "Idle_B"),
        (("Run", "Standing"), "Standing"),
        (("hop", "sad"), "hop"),
    ],
)
def test_a_performance_begins_calmly(lamp: ModelWithCharacter, labels: tuple[str, ...], calm: str) -> None:
    spaces = dict(zip(labels, lamp.model.spaces.values()))
    assert calm_label(replace(lamp.model, spaces=spaces)) == calm


def test_an_entry_says_what_the_model_has(lamp: ModelWithCharacter) -> None:
    entry = entry_of(lamp.model, "i", "lamp", "c", "i.understudy")
    assert entry.labels == lamp.model.labels and entry.frames == sum(map(len, lamp.model.spaces.values()))
    assert entry.clips == ("hop", "curious", "sad", "happy")
    document = with_model(Document(), entry)
    assert find_model(document, "i") is entry
    with pytest.raises(InvalidInput, match="there is no model 'j'"):
        find_model(document, "j")


def test_a_pose_is_best_shown_where_it_comes_from(lamp: ModelWithCharacter) -> None:
    spaces = lamp.model.spaces
    poses = {f"a {label} face": space.features[space.home].astype(float) for label, space in spaces.items()}
    for pose, label in zip(poses, spaces):
        gaps = pose_gaps(replace(lamp.model, poses=poses), pose)
        assert min(gaps, key=gaps.__getitem__) == label


@pytest.mark.parametrize(
    ("pose", "current", "label"),
    [
        ("Grumpy_2", "calm", "grumpy"),  # it is called so
        ("shocked", "calm", "happy"),  # nothing else comes near
        ("thinking", "calm", "calm"),  # near enough where it is
        ("thinking", "grumpy", "happy"),  # else the first that can
    ],
)
def test_the_label_of_a_pose(pose: str, current: str, label: str) -> None:
    gaps = (
        {"happy": 0.4, "calm": 0.5, "grumpy": 1.0} if pose == "thinking" else {"happy": 0.4, "calm": 0.8, "grumpy": 1.0}
    )
    assert label_for(pose, gaps, current) == label
