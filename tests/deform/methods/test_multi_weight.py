"""Multi-weight enveloping: linear blending is a case of it; as printed it depends on which way the character faces."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform import tubes

from understudy.deform.examples import Examples
from understudy.deform.fitting import corrections
from understudy.deform.methods.animation_space import AnimationSpace
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.multi_weight import MultiWeight
from understudy.errors import InvalidInput


def rms(out, e):
    return np.sqrt(np.square(out - e.vertices).sum(axis=-1).mean())


@pytest.mark.parametrize("frame", ["home", "root"])
def test_a_strong_ridge_leaves_the_linear_blend(frame):
    e = tubes.standard()
    stiff, plain = MultiWeight.fit(e, {"ridge": 1e9, "frame": frame}), LinearSkin.fit(e)
    assert np.abs(stiff.deform_reference(e.transforms) - plain.deform_reference(e.transforms)).max() < 1e-5


def printed(fit: Examples, held: Examples):
    """The paper's own form: twelve weights on the entries of the world's matrices, cross-validated as ours are."""
    skin = LinearSkin.fit(fit)
    bones, size = len(fit.inverse_binds), fit.size
    w = np.zeros((len(skin.rest), bones))
    np.add.at(w, (np.arange(len(w))[:, None], skin.joints), skin.weights)
    own = np.concatenate((fit.rest, np.ones((len(w), 1))), axis=1)
    c = np.tile((w[..., None] * own[:, None])[:, :, None], (1, 1, 3, 1))
    m = fit.matrices[:, :, :3]
    problems, left = [], []
    for r in range(3):
        kept = np.zeros((1, bones, 4))
        kept[0, :, r] = 1
        problems.append(
            corrections.RidgeProblem.from_matrices(
                (m[:, :, r] / (1, 1, 1, size)).reshape(len(m), -1), kept.reshape(1, -1)
            )
        )
        left.append((fit.vertices[..., r] - np.einsum("ekc,vkc->ev", m[:, :, r], c[:, :, r])) / size)
    strength = corrections.best_ridge(problems, left, 1)
    for r in range(3):
        c[:, :, r] += problems[r].solve(left[r], strength).T.reshape(len(w), bones, 4) * (size, size, size, 1)
    return np.einsum("ekrc,vkrc->evr", held.matrices[:, :, :3], c)


def test_the_surveys_order_holds_for_the_printed_form_and_not_for_ours():
    """On a tube that also turns as a whole: animation space beats the printed form, and is beaten by ours."""
    rng = np.random.default_rng(1)
    bends, twists = np.radians(rng.uniform(0, 120, 40)), np.radians(rng.uniform(-60, 60, 40))
    fit, held = tubes.tube(bends, twists, root_seed=5).split(np.arange(0, 40, 2))
    linear, space, ours = (
        rms(kind.fit(fit).deform(held.transforms), held) for kind in (LinearSkin, AnimationSpace, MultiWeight)
    )
    assert ours < space < rms(printed(fit, held), held) < linear


def test_frames_are_named():
    with pytest.raises(InvalidInput, match="no frame 'world'"):
        MultiWeight.fit(tubes.standard(), {"frame": "world"})
