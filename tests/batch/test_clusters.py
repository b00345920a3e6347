"""Clusters by name: those that are started for a batch, those that run already, and those that are not there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading

import pytest
from tests.batch import jobs_to_do
from tests.data_folder import PROJECT

from understudy import batch
from understudy.batch import clusters
from understudy.errors import InvalidInput, MissingExtra


def test_a_dask_cluster_is_started_for_a_batch_and_stopped_after_it():
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    found = batch.run(jobs_to_do.process, range(4), workers=1, cluster="dask")
    assert len(set(found)) == 1 and os.getpid() not in found
    with pytest.raises(ProcessLookupError):
        os.kill(found[0], 0)


@pytest.mark.parametrize("name", ["slurm", "", "dask:", "dask://", "dask://host", "ray://host:12:13", "tcp://a:1"])
def test_other_names_are_refused_with_the_list(name):
    with pytest.raises(InvalidInput, match=r"a cluster should be 'dask', 'dask://host:port', 'ray' or"):
        batch.run(jobs_to_do.square, range(3), cluster=name)
    with pytest.raises(InvalidInput, match="a cluster should be"):
        batch.mapper(cluster=name)


@pytest.mark.parametrize(("name", "extra"), [("dask", "cluster"), ("dask://here:8786", "cluster"), ("ray", "ray")])
def test_an_extra_that_is_not_installed_is_named(name, extra, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    with pytest.raises(
        MissingExtra, match=rf"a {name[:4].strip(':').capitalize()} cluster needs .*understudy\[{extra}\]"
    ):
        batch.run(jobs_to_do.square, range(3), cluster=name)


def test_a_scheduler_that_does_not_answer_is_an_error(monkeypatch):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(clusters, "CONNECT_TIMEOUT_SECONDS", 0.5)
    with pytest.raises(InvalidInput, match=r"^there is no Dask scheduler at dask://127\.0\.0\.1:9: "):
        batch.run(jobs_to_do.square, range(3), cluster="dask://127.0.0.1:9")


@pytest.mark.long
def test_a_cluster_that_loses_all_workers_is_given_up(monkeypatch):
    """The scheduler stays: Dask itself would wait for new workers without a word."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(clusters, "NO_WORKERS_SECONDS", 3.0)
    monkeypatch.setattr(clusters, "WATCH_SECONDS", 0.5)
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(n_workers=2, host="127.0.0.1", silence_logs=50, **options) as local:
        address = local.scheduler_address.replace("tcp", "dask")
        threading.Timer(2.0, lambda: local.scale(0)).start()
        with pytest.raises(batch.JobFailed, match=r"ended too early.*has had no worker for 3 s") as caught:
            batch.run(jobs_to_do.nap, [0.0, 0.0, 60.0, 60.0], cluster=address)
    assert caught.value.finished == {0: 0.0, 1: 0.0}, "what was done is kept"


def test_ray(tmp_path):
    """In a process of its own, with a home folder of its own: Ray writes there."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("the extra `ray` is not installed (360 MB)")
    script = (
        "import math, os; from understudy import batch\n"
        "print(batch.run(math.factorial, range(6), workers=2, cluster='ray'))\n"
        "try: batch.run(math.sqrt, [4, -4], workers=2, cluster='ray')\n"
        "except batch.JobFailed as error: print(error)\n"
        "print(list(batch.mapper(2, 'ray')(math.sqrt, [4, 9])))"
    )
    surroundings = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, env=surroundings, capture_output=True, text=True, check=False
    )
    expected = ["[1, 1, 2, 6, 24, 120]", "the job for '-4' failed: ValueError: math domain error", "[2.0, 3.0]"]
    assert done.stdout.splitlines() == expected, done.stderr
