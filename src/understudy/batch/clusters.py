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
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from understudy.errors import InvalidInput, MissingExtra

CLUSTER_KINDS = "'dask', 'dask://host:port', 'ray' or 'ray://host:port'"
CONNECT_TIMEOUT_SECONDS = 10.0  # until a silent scheduler counts as absent
NO_WORKERS_SECONDS = 15.0  # without any worker, until a batch is given up
WATCH_SECONDS = 2.0  # between two looks at the workers


class WorkersGone(Exception):
    """All workers of a cluster have gone, and none has come for a while."""


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
        with _dask(workers, cluster or "") as client:
            yield {"backend": _dask_backend(client), "n_jobs": -1}
    elif kind == "ray":
        with _ray(workers, cluster or ""):
            yield {"backend": _ray_backend(), "n_jobs": -1 if workers is None else workers}
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


def _dask_backend(client: Any) -> Any:
    """joblib's Dask backend, which also notices workers that died: joblib's own would wait for them forever."""
    from joblib._dask import DaskDistributedBackend

    class DaskBackend(DaskDistributedBackend):
        """Reports a job that ended with an exception to joblib, as the parent class does for successful ones.

        Dask itself waits for new workers when the last one has gone; here the jobs that are left fail after a while.
        """

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self._waiting: dict[Future[Any], Callable[[Any], None]] = {}  # jobs without a result
            self._ended = threading.Event()
            threading.Thread(target=self._watch, daemon=True).start()

        def effective_n_jobs(self, n_jobs: int) -> int:
            """The cluster's cores; at least two, since joblib runs the jobs of a single worker in this process."""
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
            future: Future[Any] = super().submit(func, callback)
            if callback:
                self._waiting[future] = callback

            def report_failure(ended: Future[Any]) -> None:
                if self._waiting.pop(ended, None) is not None and callback and ended.exception() is not None:
                    callback(ended)

            future.add_done_callback(report_failure)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            return out.result() if isinstance(out, Future) else super().retrieve_result_callback(out)

        def terminate(self) -> None:
            """End the watch with the batch."""
            self._ended.set()
            super().terminate()

        def _watch(self) -> None:
            """Fail the jobs that wait when there has been no worker for a while."""
            last = time.monotonic()
            while not self._ended.wait(WATCH_SECONDS):
                if client.status != "running" or client.scheduler_info(n_workers=1)["workers"]:
                    last = time.monotonic()
                elif time.monotonic() - last > NO_WORKERS_SECONDS:
                    self._give_up()
                    return

        def _give_up(self) -> None:
            failure: Future[Any] = Future()
            failure.set_exception(WorkersGone(f"the cluster has had no worker for {NO_WORKERS_SECONDS:g} s"))
            while self._waiting:
                _, callback = self._waiting.popitem()
                callback(failure)

    return DaskBackend(client=client)


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


def _ray_backend() -> Any:
    """Ray's backend for joblib, which yields results as they arrive, like joblib's other backends."""
    from ray.util.joblib.ray_backend import RayBackend

    class GeneratorBackend(RayBackend):
        """Enables generators, which the parent class inherits as disabled from joblib's process pool."""

        supports_return_generator = True

    return GeneratorBackend()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
