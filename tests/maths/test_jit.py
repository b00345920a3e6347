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
for name in ("InTreeCacheLocator", "InTreeCacheLocatorFsAgnostic", "UserWideCacheLocator", "IPythonCacheLocator"):
    locator = getattr(caching, name, None) or getattr(caching, f"_{name}", None)  # older numba has an underscore
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
    assert next(tmp_path.glob("understudy-kernels-*")).stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name != "posix", reason="needs owners and modes of POSIX")
@pytest.mark.parametrize("fault", ["another owner", "others may write", "a link"])
def test_a_cache_that_others_can_write_is_not_used(tmp_path: Path, fault: str) -> None:
    folder = tmp_path / f"understudy-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700)
    if fault == "another owner":
        if os.getuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(folder, 65534, 65534)
    elif fault == "others may write":
        folder.chmod(0o777)
    else:
        folder.rmdir()
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    script = tmp_path / "script.py"
    script.write_text(READ_ONLY_MACHINE)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, script, tmp_path], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout.strip() == "42", done.stderr
    assert "can be written by others" in done.stderr
    assert not list(tmp_path.rglob("*.nbi")), "code was kept where others can plant it"
    assert sorted(place.name for place in tmp_path.glob("understudy-kernels-*")) == [folder.name], "a folder is left"
