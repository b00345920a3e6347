from __future__ import annotations

import numpy as np
import pytest
from tests.learned import lamp_library

from understudy import cast
from understudy.character import Character, Mesh, Part, Skeleton, SkinBinding, rig
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.features.weights import carrier_joint, feature_influence, weigh_features


@pytest.fixture(scope="module")
def lamp():
    library = lamp_library()
    rows = [take.rows for take in library.takes]
    encoder = PoseEncoder.fit(library.rig.channels, rows, library.rate, library.rig.rest, library.root)
    features = np.concatenate([encoder.encode(take) for take in rows])
    return encoder, library.rig, features


def test_each_look_has_the_same_total(lamp) -> None:
    encoder, rig, features = lamp
    seen = weigh_features(encoder, rig, features)
    variances = np.square(seen.views * features.std(axis=0))
    shares = variances / variances.sum(axis=1, keepdims=True)
    assert np.allclose(np.square(seen.weights * features.std(axis=0)), shares.mean(axis=0))


def test_the_first_look_is_the_papers(lamp) -> None:
    encoder, rig, features = lamp
    whole, count = feature_influence(encoder, rig, features)
    assert np.allclose(weigh_features(encoder, rig, features).metric, whole / np.sqrt(count), rtol=0.02)


def test_components_explain_their_share_of_every_look(lamp) -> None:
    encoder, rig, features = lamp
    seen = weigh_features(encoder, rig, features)
    mean = features.mean(axis=0)
    for share in (0.5, 0.85, 0.99):
        reduction = seen.reduction(features, share)
        left = features - reduction.restore(reduction.reduce(features))
        explained = [1 - np.square(left * k).sum() / np.square((features - mean) * k).sum() for k in seen.views]
        assert min(explained) >= share - 1e-6
        if reduction.dimensions > 3:
            fewer = type(reduction).fit(features, seen.weights, 1.0, reduction.dimensions - 1)
            left = features - fewer.restore(fewer.reduce(features))
            explained = [1 - np.square(left * k).sum() / np.square((features - mean) * k).sum() for k in seen.views]
            assert min(explained) < share


def test_a_head_carries_a_dragon() -> None:
    dragon = cast.load("dragon").character()
    head = carrier_joint(dragon)
    assert head is not None and dragon.skeleton.names[head] == "Head"


def test_a_scene_of_separate_parts_has_no_carrier() -> None:
    """Nine boxes that hang on nothing used to end the learning."""
    joints = [f"box{number}" for number in range(9)]
    skeleton = Skeleton(joints, [-1] * 9, np.zeros((9, 3)))
    mesh = Mesh("box", np.eye(3), [[0, 1, 2]])
    parts = [Part(name, mesh, SkinBinding.rigid(number, 3)) for number, name in enumerate(joints)]
    assert carrier_joint(Character("boxes", skeleton, parts)) is None


def test_brows_count_beside_a_neck() -> None:
    """By the paper's scale a brow is worth a thousandth of the neck's variance; balanced, some hundredths."""
    asset = cast.load("dragon")
    played = rig.rig_of(asset.character())
    rows = [played.pose(asset.animation(name), np.arange(0, 3, 0.25)) for name in ("happy_greeting", "grumpy_sulk")]
    encoder = PoseEncoder.fit(played.channels, rows, 4.0, played.rest)
    features = np.concatenate([encoder.encode(take) for take in rows])
    seen = weigh_features(encoder, played, features)
    brows = np.array([name.startswith("brows.") for name in encoder.names])
    variance = np.square(features.std(axis=0))
    plain, balanced = (np.square(scale) * variance for scale in (seen.metric, seen.weights))
    assert balanced[brows].sum() / balanced.sum() > 10 * plain[brows].sum() / plain.sum()
