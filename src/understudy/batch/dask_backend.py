"""joblib's Dask backend, which also notices workers that died: joblib's own would wait for them forever."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from joblib._dask import DaskDistributedBackend


class DaskBackend(DaskDistributedBackend):
    """Reports a job that ended with an exception to joblib, as the parent class does for successful ones."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """The cluster's cores; at least two, since joblib runs the jobs of a single worker in this process."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        future: Future[Any] = super().submit(func, callback)

        def report_failure(ended: Future[Any]) -> None:
            if callback and ended.exception() is not None:
                callback(ended)

        future.add_done_callback(report_failure)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        return out.result() if isinstance(out, Future) else super().retrieve_result_callback(out)
