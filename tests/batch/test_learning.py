"""Learning on a cluster: the same model, bit for bit, as on this machine, one label after the other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.acrobat import acrobat

from understudy import batch
from understudy.errors import InvalidInput
from understudy.perform.library import ClipLibrary
from understudy.perform.training import FitSettings, fit_label, fit_library

SETTINGS = FitSettings(iterations=25)  # not to the end: it is the road that has to be the same


@pytest.fixture(scope="module")
def library():
    return ClipLibrary.from_asset(acrobat())


@pytest.fixture(scope="module")
def alone(library):
    """One label after the other, in this process."""
    return fit_library(library, SETTINGS, workers=1)


def test_it_is_the_same_model_wherever_it_was_learned(library, alone, where):
    seen = []
    model = fit_library(library, SETTINGS, mapper=batch.mapper(**where), progress=lambda done, total: seen.append(done))
    assert model.labels == alone.labels and seen == sorted(seen)
    for label, space in alone.spaces.items():
        np.testing.assert_array_equal(model.spaces[label].latents, space.latents)
        np.testing.assert_array_equal(model.spaces[label].mapping.weights, space.mapping.weights)
    assert [len(found) for found in model.bridges] == [len(found) for found in alone.bridges]


def test_a_label_that_cannot_be_learned_is_named(library, where):
    def one_fails(job):
        if job.label == library.labels[1]:
            raise InvalidInput("nothing moves")
        return fit_label(job)

    with pytest.raises(batch.JobFailed, match=f"the job for '{library.labels[1]}' failed: nothing moves"):
        list(batch.mapper(**where)(one_fails, jobs(library)))


def jobs(library):
    """What `learn` hands to its mapper."""
    given = []

    class Enough(Exception):
        pass

    def mapper(function, items, progress=None):
        given.extend(items)
        raise Enough

    with pytest.raises(Enough):
        fit_library(library, SETTINGS, mapper=mapper)
    return given
