"""The backends of a batch: processes or threads of this machine, a Dask cluster, or Ray, each run by joblib.

    None                 processes of this machine (loky), or threads
    "dask"               a Dask cluster of this machine, started for the batch and stopped after it
    "dask://host:port"   a running Dask scheduler
    "ray"                the Ray cluster of this process or of RAY_ADDRESS, else one on this machine, for the batch
    "ray://host:port"    a running Ray cluster

Jobs and results are sent as Python objects between processes that trust each other; no files are used. The machines of
a cluster need the same version of understudy.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from understudy.errors import InvalidInput, MissingExtra

CLUSTER_KINDS = "'dask', 'dask://host:port', 'ray' or 'ray://host:port'"
CONNECT_TIMEOUT_SECONDS = 10.0  # until a silent scheduler counts as absent


def check(cluster: str | None) -> str:
    """The kind of a cluster name: "here", "dask" or "ray"; raises if it is unknown or not installed."""
    if cluster is None:
        return "here"
    match = re.fullmatch(r"(dask|ray)(://[^/\s:]+:\d{1,5}|://\[[0-9a-fA-F:]+\]:\d{1,5})?", cluster)
    if not match:
        raise InvalidInput(f"a cluster should be {CLUSTER_KINDS}, but is {cluster!r}")
    kind = match.group(1)
    module, extra = {"dask": ("distributed", "cluster"), "ray": ("ray", "ray")}[kind]
    if importlib.util.find_spec(module) is None:
        raise MissingExtra(f"a {kind.capitalize()} cluster", extra)
    return kind


@contextmanager
def open_backend(workers: int | None, cluster: str | None, threads: bool) -> Iterator[dict[str, Any]]:
    """The arguments of `joblib.parallel_config`; a cluster that is started here is stopped afterwards."""
    kind = check(cluster)
    if kind == "dask":
        from understudy.batch.dask_backend import DaskBackend

        with _dask(workers, cluster or "") as client:
            yield {"backend": DaskBackend(client=client), "n_jobs": -1}
    elif kind == "ray":
        with _ray(workers, cluster or ""):
            from understudy.batch.ray_backend import RayBackend

            yield {"backend": RayBackend(), "n_jobs": -1 if workers is None else workers}
    elif threads:
        yield {"backend": "threading", "n_jobs": workers}
    else:
        yield {"backend": "loky", "n_jobs": workers, "inner_max_num_threads": 1}


@contextmanager
def _dask(workers: int | None, cluster: str) -> Iterator[Any]:
    """A Dask client; its local cluster listens on this machine only."""
    from distributed import Client, LocalCluster

    if cluster.startswith("dask://"):
        address = "tcp" + cluster.removeprefix("dask")
        try:
            client = Client(address, timeout=CONNECT_TIMEOUT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise InvalidInput(f"there is no Dask scheduler at {cluster}: {_first_line(error)}") from None
        with client:
            yield client
        return
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with (
        LocalCluster(n_workers=workers, processes=True, host="127.0.0.1", **options) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _ray(workers: int | None, cluster: str) -> Iterator[None]:
    """A Ray connection, without usage statistics unless the user enables them."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if cluster.startswith("ray://"):
        options["address"] = cluster
    elif "RAY_ADDRESS" not in os.environ:
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**options)
    except (OSError, TimeoutError, RuntimeError) as error:
        raise InvalidInput(f"there is no Ray cluster at {options.get('address')}: {_first_line(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
