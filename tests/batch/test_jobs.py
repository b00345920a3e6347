"""Many jobs at once give what one after another would, wherever they run; what fails is named, what is done is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.batch import jobs_to_do
from tests.data_folder import PROJECT
from threadpoolctl import threadpool_limits

from understudy import batch
from understudy.errors import InvalidInput


def test_results_are_in_the_order_of_the_items(where):
    assert batch.run(jobs_to_do.latest_first, range(4), **where) == [0, 1, 2, 3]
    assert batch.run(jobs_to_do.square, [], **where) == []


def test_numbers_are_the_same_to_the_last_bit(where):
    for found, seed in zip(batch.run(jobs_to_do.decomposed, range(4), **where), range(4)):
        alone = batch.run(jobs_to_do.decomposed, [seed], workers=1)[0]
        for a, b in zip(found, alone):
            np.testing.assert_array_equal(a, b)


def test_each_job_has_one_thread_for_linear_algebra(where):
    with threadpool_limits(limits=2):
        found = batch.run(jobs_to_do.blas_threads, range(4), **where)
        assert set(jobs_to_do.blas_threads(0)) == {2}
    assert all(threads and set(threads) == {1} for threads in found)


def test_jobs_run_in_other_processes_unless_asked_otherwise(where):
    inside = "threads" in where or where.get("workers") == 1
    assert (os.getpid() in batch.run(jobs_to_do.process, range(4), **where)) == inside


def test_progress_counts_every_job(where):
    seen = []
    batch.run(jobs_to_do.square, range(9), **where, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 9) for done in range(1, 10)]


def test_functions_that_have_no_name_can_be_jobs(where):
    offset = 7
    assert batch.run(lambda x: x + offset, range(3), **where) == [7, 8, 9]


def test_a_failed_job_names_its_item(where):
    with pytest.raises(batch.JobFailed, match=r"^the job for '3' failed: three is one too many") as caught:
        batch.run(jobs_to_do.none_of_three, range(8), **where)
    assert all(caught.value.finished[i] == i for i in caught.value.finished)
    assert "in none_of_three" in caught.value.__notes__[0]


def test_the_others_are_done_where_wanted(where):
    with pytest.raises(batch.JobFailed, match="'3' failed") as caught:
        batch.run(jobs_to_do.none_of_three, range(8), **where, keep_going=True)
    assert caught.value.finished == {i: i for i in range(8) if i != 3}
    with pytest.raises(batch.JobFailed, match=r"\(and so did '.', '.'\)"):
        batch.run(jobs_to_do.surprised, range(3), **where, keep_going=True)


def test_errors_of_any_kind_arrive(where):
    with pytest.raises(batch.JobFailed, match=r"'a.glb' failed: a.glb, line 3: it is damaged"):
        batch.run(jobs_to_do.broken_file, ["a.glb"] * 2, **where)
    with pytest.raises(batch.JobFailed, match=r"'here' failed: ZeroDivisionError: two lines"):
        batch.run(jobs_to_do.surprised, [Path("here"), Path("here")], **where)


@pytest.mark.parametrize("place", ["processes", "dask"])
def test_a_worker_that_dies_is_an_error_and_not_a_silence(place, request):
    where = {"workers": 2} if place == "processes" else {"cluster": request.getfixturevalue("scheduler")}
    with pytest.raises(batch.JobFailed, match=r"^the workers ended too early; not done: .*'1'") as caught:
        batch.run(jobs_to_do.dying, range(2), **where)
    assert set(caught.value.finished) <= {0}
    assert batch.run(jobs_to_do.square, range(3), **where) == [0, 1, 4]  # the next batch has workers again


@pytest.mark.parametrize("place", ["processes", "dask"])
def test_a_result_that_cannot_be_sent_is_an_error_and_not_a_silence(place, request):
    where = {"workers": 2} if place == "processes" else {"cluster": request.getfixturevalue("scheduler")}
    with pytest.raises(batch.JobFailed, match="generator"):
        batch.run(jobs_to_do.never_sent, range(2), **where)


@pytest.mark.parametrize(
    ("item", "name"), [(("happy", 1), "happy"), (Path("a/b"), "a/b"), (object(), "number 2 of 2"), (2.5, "2.5")]
)
def test_items_are_called_by_their_names(item, name):
    with pytest.raises(batch.JobFailed, match=f"the job for '{name}' failed"):
        batch.run(lambda x: 1 // (x is not item), [None, item], workers=1)


def test_a_mapper_yields_in_order_while_later_jobs_run(where):
    seen = []
    mapped = batch.mapper(**where)
    results = mapped(jobs_to_do.latest_first, range(4), lambda done, total: seen.append((done, total)))
    assert next(results) == 0
    assert list(results) == [1, 2, 3] and seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert list(mapped(jobs_to_do.square, [])) == []


def test_a_mapper_that_is_left_early_leaves_nothing_running(tmp_path):
    results = batch.mapper(2)(jobs_to_do.started, [None, tmp_path, tmp_path])
    assert next(results) == "quick"
    marks = waited_for(tmp_path, 2)
    results.close()
    assert gone(marks)


def test_ctrl_c_ends_the_workers_and_keeps_what_is_done(tmp_path):
    script = (
        "import sys; from understudy import batch; from tests.batch.jobs_to_do import started\n"
        "try: batch.run(started, [None, *sys.argv[1:] * 3], workers=2)\n"
        "except KeyboardInterrupt as stop: print(stop, stop.finished)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    child = subprocess.Popen(command, cwd=PROJECT, start_new_session=True, preexec_fn=heed_ctrl_c, **pipes)
    marks = waited_for(tmp_path, 2)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    out, err = child.communicate(timeout=30)
    assert out == "stopped with 1 of 4 jobs done {0: 'quick'}\n" and err == ""
    assert gone(marks)


def heed_ctrl_c():
    """What runs in the background of a shell ignores it, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def waited_for(folder, count):
    """Process ids that left a mark in the folder, once there are `count`."""
    end = time.monotonic() + 60.0
    while len(found := [int(path.name) for path in folder.iterdir()]) < count and time.monotonic() < end:
        time.sleep(0.05)
    assert len(found) == count
    return found


def gone(processes):
    """Whether all of them end within a few seconds."""
    end = time.monotonic() + 10.0
    while any(alive(process) for process in processes) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(alive(process) for process in processes)


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")  # a zombie, which nobody has asked about yet, is not alive
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_are_a_whole_number(workers):
    with pytest.raises(InvalidInput, match="workers should be a whole number above zero"):
        batch.run(jobs_to_do.square, range(3), workers=workers)


def test_a_job_is_a_function():
    with pytest.raises(InvalidInput, match="a job should be a function, but is int"):
        batch.run(3, range(3))
