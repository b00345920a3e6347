"""Many jobs at once, on this machine or on a cluster."""

from __future__ import annotations

from understudy.batch.jobs import JobFailed, JobsInterrupted, arrivals, attach_finished, mapper, run

__all__ = ["JobFailed", "JobsInterrupted", "arrivals", "attach_finished", "mapper", "run"]
