from __future__ import annotations

import threading

from threadpoolctl import threadpool_info

from understudy.maths.jit import one_blas_thread


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    before = threads()
    with one_blas_thread():
        assert threads() == {1}
        with one_blas_thread():
            pass
        assert threads() == {1}
    assert threads() == before


def test_the_limit_holds_until_the_last_thread_has_gone():
    """The first block to enter leaves first, in a thread that lives on: the others own the limit, and lift it."""
    before, seen = threads(), []
    entered, may_go, gone, done = (threading.Event() for _ in range(4))

    def first() -> None:
        with one_blas_thread():
            entered.set()
            may_go.wait()
        gone.set()
        done.wait()

    other = threading.Thread(target=first)
    other.start()
    entered.wait()
    with one_blas_thread():
        may_go.set()
        gone.wait()
        seen.append(threads())
    seen.append(threads())
    done.set()
    other.join()
    assert seen == [{1}, before]
