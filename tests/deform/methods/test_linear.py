"""Linear blending fitted from examples."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform import tubes
from tests.deform.fitting.test_simplex import skinned

from understudy.deform.methods.linear import LinearSkin
from understudy.errors import InvalidInput


def rms(made, e):
    return np.sqrt(np.square(made.deform_reference(e.transforms) - e.vertices).sum(axis=-1).mean())


def test_finds_the_weights_that_made_the_examples():
    e, full = skinned(7, influences=3)
    made = LinearSkin.fit(e, {"ridge": 1e-12})
    found = np.zeros(full.shape)
    np.add.at(found, (np.arange(len(found))[:, None], made.joints), made.weights)
    assert np.abs(found - full).max() < 1e-4


def test_is_better_than_the_artist_on_what_it_has_seen_and_says_its_error():
    e = tubes.standard()
    made, artist = LinearSkin.fit(e), LinearSkin.from_artist_weights(e)
    assert rms(made, e) < rms(artist, e)
    assert made.rms == pytest.approx(rms(made, e), rel=1e-3)
    assert artist.rms == pytest.approx(rms(artist, e), rel=1e-3)
    assert np.array_equal(LinearSkin.fit(e, {"weights": "artist"}).weights, artist.weights)


def test_influences_are_limited():
    made = LinearSkin.fit(tubes.standard(), {"influences": 1})
    assert made.joints.shape[1] == 1
    assert made.rms >= made.rms_unlimited
    assert made.bytes_a_vertex == 12 + 5


def test_bad_settings_are_named():
    with pytest.raises(InvalidInput, match="influences should be 1 or more"):
        LinearSkin.fit(tubes.standard(), {"influences": 0})
    with pytest.raises(InvalidInput, match="artist's weights, but have none"):
        LinearSkin.fit(tubes.standard(weights=False), {"weights": "artist"})
    with pytest.raises(InvalidInput, match="there is 1"):
        LinearSkin.fit(tubes.standard().subset([2]))
