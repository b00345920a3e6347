"""Kernels: one sentence where numba is absent, and cached even where no usual folder can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.maths import jit

READ_ONLY_MACHINE = """
import numba.core.caching as caching, tempfile, sys
for name in ("_InTreeCacheLocator", "_InTreeCacheLocatorFsAgnostic", "_UserWideCacheLocator", "_IPythonCacheLocator"):
    locator = getattr(caching, name, None)
    if locator is not None:
        locator.from_function = classmethod(lambda cls, *given: None)
tempfile.tempdir = sys.argv[1]
from understudy.maths import jit
@jit.compile_kernel()
def double(x):
    return 2 * x
print(double(21))
"""


def test_without_numba_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "understudy.maths.scalar_kernels"
    assert jit.kernels(name).__name__ == name
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    with pytest.raises(UnderstudyError, match="numba, which understudy needs, cannot be imported: pip install numba"):
        jit.kernels(name)
    with pytest.raises(ImportError):
        jit.kernels("understudy.maths.no_such_kernels")


def test_no_thread_gets_half_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_kernels.py").write_text("import time\ntime.sleep(0.3)\nready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: getattr(jit.kernels("slow_kernels"), "ready", False), range(4)))
    assert found == [True] * 4


def test_kernels_are_cached_where_package_and_home_cannot_be_written(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(READ_ONLY_MACHINE)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, script, tmp_path], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "42"
    assert list(tmp_path.rglob("*.nbi")), "the compiled code was not kept"
