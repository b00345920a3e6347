"""The report counts planted faults in a small package, and nothing else."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.data_folder import PROJECT

SOURCES = {
    "__init__.py": """
        __all__ = ["Solver", "Step", "load", "solve"]
        _MODULES = {"Solver": "solve.solver", "solve": "understudy.solve.solver:run"}
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from understudy.solve import Step
        def __getattr__(name):
            import importlib
            return getattr(importlib.import_module("understudy.files"), name)
        """,
    "files.py": '''
        LIMIT, TOO_LONG = 3, "nobody"
        FEW = 4
        MAX_BYTES = 2 * 1024
        NAMES = ("a", 1)
        LOCK = list()
        def load(path, *, units="m"):
            """Read the file at `path`."""
        ''',
    "solve/__init__.py": "from understudy.solve.step import Step",
    "solve/step.py": '''
        from dataclasses import dataclass
        from typing import ClassVar, TYPE_CHECKING
        if TYPE_CHECKING:
            from understudy.solve.solver import Solver
        @dataclass
        class Step:
            """A step of a given size."""
            size: float
            direction: float
            kind: ClassVar[str] = "step"
        class Base:
            """What a solver is."""
            def reset(self, hard):
                """Forget the state."""
        class _Hidden: ...
        def speed(a): ...
        def seed(): ...
        ''',
    "solve/solver.py": '''
        from understudy.solve import Step
        from understudy.solve.step import Base
        class Solver(Base):
            """Solves within a `tolerance`."""
            def __init__(self, tolerance, steps):
                """Takes so many `steps`."""
            def held(self): ...
            @staticmethod
            def told(name): ...
            def _kept(self): ...
        class _Hidden: ...
        def run(problem):
            """Solve a problem for somebody."""
            def moved(): ...
        ''',
    "studio/step.py": """
        import understudy.studio.handlers
        class Step: ...
        """,
    "studio/handlers.py": """
        from understudy.studio import step
        def lazy():
            import understudy.edit.handlers
        """,
    "edit/handlers.py": """
        def lazy():
            import understudy.studio.step
        """,
}
LONG = "word " * 30
README = f"""{LONG}
| {LONG} |
[a link](https://example.org/{"x" * 120})
short
"""


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("house_report", PROJECT / "tools" / "house_report.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the faults."""
    root = tmp_path_factory.mktemp("checkout")
    for name, source in SOURCES.items():
        path = root / "src" / "understudy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in source.strip("\n").splitlines()))
    (root / "README.md").write_text(README)
    (root / "NOTES.md").write_text(README)
    return root


@pytest.fixture(scope="module")
def figures(tool: Any, root: Path) -> dict[str, Any]:
    return {figure.name: figure for figure in tool.static_figures(root)}


def test_names(figures: dict[str, Any]) -> None:
    assert figures["room solve"].value.startswith("3 files") and figures["room (top)"].value.startswith("2 files")
    assert figures["files in the wheel"].value == 8
    assert figures["lines of a file in the wheel"].met is False, "these files are far too small"
    assert figures["modules in the largest folder"].value == 2
    assert figures["file names that occur twice"].details == ["step.py: solve/step.py, studio/step.py"]
    assert figures["files called handlers.py"].value == 2
    classes = figures["public class names that occur twice"]
    assert classes.details == ["Step: understudy.solve.step, understudy.studio.step"] and classes.met is False
    public = figures["public participle functions"]
    assert [name.split(".")[-1] for name in public.details] == ["held", "told"] and public.met
    private = figures["private participle functions"].details
    assert [name.split(".")[-1] for name in private] == ["_kept", "moved"]


def test_documented_arguments(figures: dict[str, Any]) -> None:
    assert figures["front door: names"].value == 4 and figures["front door: neither class nor function"].value == 0
    front = figures["front door: arguments documented"]
    missing = ["Solver.reset(hard)", "Solver.told(name)", "Step(direction)", "load(units)"]
    assert sorted(front.details) == missing and front.value == "5 of 9 (55.6 %)" and front.met is False
    assert figures["public functions: arguments documented"].value == "2 of 6 (33.3 %)"


def test_cycles(figures: dict[str, Any]) -> None:
    cycle = "understudy.studio.handlers <-> understudy.studio.step"
    assert figures["import cycles"].details == [cycle] and figures["import cycles"].met is False
    wide = figures["import cycles, imports in functions too"].details
    assert wide == [f"understudy.edit.handlers <-> {cycle}"]


def test_texts_and_constants(figures: dict[str, Any]) -> None:
    assert figures["Markdown lines over 120"].details == ["README.md:1", "README.md:2", "README.md:3"]
    assert figures["  of them neither table nor link"].details == ["README.md:1"]
    assert figures["numeric constants"].details == ["understudy.files.FEW", "understudy.files.MAX_BYTES"]
    assert figures["  of them of one word"].details == ["understudy.files.FEW"]
    assert figures["who, whoever, somebody, nobody"].value == 2


def test_participles(tool: Any) -> None:
    names = ("told", "kept_keys", "_drawn", "freed", "red_shift", "speed_limit", "embed", "needs", "set_keys", "bound")
    assert [name for name in names if tool.is_participle(name)] == ["told", "kept_keys", "_drawn", "freed"]


def test_table_and_json(tool: Any, root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = CliRunner().invoke(tool.report, ["--root", str(root), "--json", str(out)])
    assert run.exit_code == 0, run.output
    row = next(line for line in run.output.splitlines() if line.startswith("import cycles "))
    assert row.split() == ["import", "cycles", "1", "<=", "0", "not", "met"]
    assert {"name", "value", "bar", "met", "details"} == set(json.loads(out.read_text())[0])
