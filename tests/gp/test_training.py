"""Runs that are interrupted, and go on."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.gp.poses import clips

from understudy.errors import BadFile, InvalidInput
from understudy.gp.gplvm import GPLVM, SparseGPLVM
from understudy.gp.priors import ConnectivityPrior

MODELS = [
    GPLVM(iterations=24),
    GPLVM(iterations=24, method="scg"),
    GPLVM(iterations=24, connectivity=None),
    SparseGPLVM(inducing=15, iterations=24),
]
NAMES = ["lbfgs", "scg", "plain", "sparse"]


def interrupted_at(iteration: int):
    def progress(done: int, total: int) -> None:
        if done == iteration:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_going_on_gives_the_same_as_never_stopping(model, tmp_path):
    data, path = clips(), tmp_path / "state.npz"
    expected = model.fit(*data).latents_
    for iteration in (2, 13, 20):
        with pytest.raises(KeyboardInterrupt):
            model.fit(*data, progress=interrupted_at(iteration), checkpoint=path)
        assert path.exists()
    told = []
    assert np.array_equal(
        model.fit(*data, progress=lambda done, _: told.append(done), checkpoint=path).latents_, expected
    )
    assert told[0] > 19  # it did not begin again


def test_a_run_that_is_done_is_not_done_again(tmp_path):
    data, path, told = clips(), tmp_path / "state.npz", []
    first = GPLVM(iterations=12).fit(*data, checkpoint=path)
    again = GPLVM(iterations=12).fit(*data, progress=lambda *at: told.append(at), checkpoint=path)
    assert np.array_equal(again.latents_, first.latents_) and again.objective_ == first.objective_
    assert told == [(12, 12)]


@pytest.mark.parametrize(
    "other",
    [
        lambda data, path: GPLVM(iterations=12).fit(data[0] + 1e-9, *data[1:], checkpoint=path),
        lambda data, path: GPLVM(iterations=12).fit(data[0], data[1], data[2] * 2, checkpoint=path),
        lambda data, path: GPLVM(iterations=13).fit(*data, checkpoint=path),
        lambda data, path: GPLVM(iterations=12, connectivity=ConnectivityPrior(beta=11.0)).fit(*data, checkpoint=path),
        lambda data, path: SparseGPLVM(iterations=12).fit(*data, checkpoint=path),
    ],
    ids=["poses", "times", "iterations", "prior", "model"],
)
def test_the_checkpoint_of_another_run_is_refused(other, tmp_path):
    data, path = clips(), tmp_path / "state.npz"
    GPLVM(iterations=12).fit(*data, checkpoint=path)
    with pytest.raises(
        InvalidInput, match="is the checkpoint of a training run with other data or settings; remove it"
    ):
        other(data, path)


def test_a_damaged_checkpoint_is_one_sentence(tmp_path):
    data, path = clips(), tmp_path / "state.npz"
    GPLVM(iterations=3).fit(*data, checkpoint=path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a file of arrays", whole[:200] + b"\0" * 100 + whole[300:]):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"state\.npz: is not a checkpoint of a training run"):
            GPLVM(iterations=3).fit(*data, checkpoint=path)


def test_interrupted_without_a_checkpoint_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        GPLVM(iterations=12).fit(*clips(), progress=interrupted_at(3))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_said_before_training(tmp_path):
    told = []
    with pytest.raises(InvalidInput, match=r"cannot write the checkpoint .* there is no folder"):
        GPLVM(iterations=2).fit(*clips(), lambda *at: told.append(at), tmp_path / "nowhere" / "state.npz")
    assert not told


def test_models_in_threads_are_what_they_are_alone():
    data = [clips(seed=seed) for seed in range(3)]
    alone = [GPLVM(iterations=15).fit(*each).latents_ for each in data]
    together = [None] * 3

    def train(number):
        together[number] = GPLVM(iterations=15).fit(*data[number]).latents_

    threads = [threading.Thread(target=train, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))
