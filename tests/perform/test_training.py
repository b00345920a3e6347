from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from tests.learned import lamp_library, lamp_model
from tests.perform.small_world import asset, clip

from understudy.maths.jit import ThreadStopped, map_in_threads
from understudy.perform.library import ClipLibrary
from understudy.perform.training import FitSettings, fit_library

SHORT = FitSettings(iterations=10)


def test_the_same_library_gives_the_same_model() -> None:
    again = fit_library(lamp_library(), FitSettings(iterations=40), workers=1)
    # with NumPy 1.26 linear algebra now and then rounds differently within one process
    tolerance = 0.0 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 1e-4
    for label, space in lamp_model().spaces.items():
        np.testing.assert_allclose(again.spaces[label].latents, space.latents, rtol=0, atol=tolerance)
    for pair, other in zip(lamp_model().bridges, again.bridges):
        np.testing.assert_allclose(other.second_latents, pair.second_latents, rtol=0, atol=tolerance)


def test_progress_reaches_its_end() -> None:
    seen: list[tuple[int, int]] = []
    fit_library(ClipLibrary.from_asset(asset()), SHORT, lambda done, total: seen.append((done, total)))
    done = [d for d, _ in seen]
    assert done == sorted(done)
    assert seen[-1][0] == seen[-1][1]


def test_interrupted_learning_goes_on_where_it_stopped(tmp_path: Path) -> None:
    library = ClipLibrary.from_asset(asset())
    whole = fit_library(library, SHORT)

    def stop(done: int, total: int) -> None:
        if done > 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_library(library, SHORT, stop, workers=1, kept=tmp_path)
    finished = list(tmp_path.glob("*.space"))
    assert finished
    before = [path.stat().st_mtime_ns for path in finished]
    again = fit_library(library, SHORT, workers=1, kept=tmp_path)
    assert [path.stat().st_mtime_ns for path in finished] == before
    for label in whole.labels:
        assert np.array_equal(whole.spaces[label].latents, again.spaces[label].latents)


def test_what_is_kept_belongs_to_its_data(tmp_path: Path) -> None:
    fit_library(ClipLibrary.from_asset(asset()), SHORT, kept=tmp_path)
    count = len(list(tmp_path.glob("*.space")))
    fit_library(ClipLibrary.from_asset(asset()), FitSettings(iterations=11), kept=tmp_path)
    assert len(list(tmp_path.glob("*.space"))) == 2 * count


def test_jobs_may_be_sent_elsewhere() -> None:
    sent = []

    def mapper(function, jobs):
        for job in jobs:
            sent.append(job.label)
            yield function(job)

    library = ClipLibrary.from_asset(asset())
    model = fit_library(library, SHORT, mapper=mapper)
    assert sent == list(library.labels)
    assert np.array_equal(model.spaces["Run"].latents, fit_library(library, SHORT).spaces["Run"].latents)


def test_labels_of_several_clips_and_a_sparse_model() -> None:
    library = ClipLibrary.from_asset(
        asset(clip("a", 30), clip("b", 30), clip("c", 25)), labels={"one": ["a", "b"], "two": ["c"]}
    )
    model = fit_library(library, FitSettings(iterations=10, sparse=True))
    assert [segment.clip for segment in model.spaces["one"].segments] == ["a", "b"]
    assert len(model.spaces["one"]) == 60


def test_a_job_that_fails_stops_the_others() -> None:
    def job(number: int, progress) -> int:
        if number == 1:
            raise ValueError("one")
        for step in range(10_000):
            progress(step, 10_000)
        return number

    with pytest.raises(ValueError, match="one"):
        list(map_in_threads(job, [1, 2, 3], 2))


def test_a_stopped_job_says_so() -> None:
    heard: list[BaseException] = []
    running = threading.Event()

    def job(number: int, progress) -> int:
        if number == 0:
            running.wait()
            raise KeyboardInterrupt
        try:
            while True:
                progress(0, 1)
                running.set()
        except ThreadStopped as error:
            heard.append(error)
            raise

    with pytest.raises(KeyboardInterrupt):
        list(map_in_threads(job, [0, 1], 2))
    assert len(heard) == 1
