"""These tests need Blender (a gigabyte): they run only where their folder is named, as `make test-blender` does."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    named = (Path(str(argument).split("::")[0]).resolve() for argument in config.invocation_params.args)
    return None if any(path == HERE or HERE in path.parents for path in named) else True
