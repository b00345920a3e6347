"""Many jobs at once, on this machine or on a cluster."""

from __future__ import annotations

from understudy.batch.jobs import Interrupted, JobFailed, arrivals, mapper, run

__all__ = ["Interrupted", "JobFailed", "arrivals", "mapper", "run"]
