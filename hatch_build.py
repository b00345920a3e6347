"""The build hook of the package: the wheel, and an editable install, carry the studio's page ready to be served."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """Builds `web/` before the package is put together. UNDERSTUDY_NO_PAGE=1 leaves the page out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel (or an editable one) is built."""
        if self.target_name != "wheel" or os.environ.get("UNDERSTUDY_NO_PAGE"):
            return
        root = Path(self.root)
        place = root / "tools" / "build_page.py"
        found = importlib.util.spec_from_file_location("build_page", place)
        assert found is not None and found.loader is not None
        build_page = importlib.util.module_from_spec(found)
        found.loader.exec_module(build_page)
        build_page.build(root / "web", root / "src" / "understudy" / "studio" / "static")
