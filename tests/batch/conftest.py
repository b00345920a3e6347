"""A small Dask cluster, as one that somebody else has started."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="package")
def scheduler():
    """`dask://host:port` of a cluster with two workers on this machine."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=2, processes=True, **options) as cluster:
        yield cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture(params=["one", "processes", "threads", "dask"])
def where(request):
    """The arguments that choose where jobs run."""
    if request.param == "dask":
        return {"cluster": request.getfixturevalue("scheduler")}
    return {"one": {"workers": 1}, "processes": {"workers": 2}, "threads": {"workers": 2, "threads": True}}[
        request.param
    ]
