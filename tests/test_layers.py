"""Who may import whom: a module imports only from lines above its own; names on one line do not import each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import understudy

HOUSE = """
errors
checks | files | tables
estimator | maths
character | gp
formats | deform | features
rig
posespace | motiongraph | retarget | keyframes | skinning | expression
live | cast
render | batch | opening
studio
cli
"""
FLOOR = {room.strip(): number for number, line in enumerate(HOUSE.strip().splitlines()) for room in line.split("|")}
PACKAGE = Path(understudy.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem in FLOOR)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> set[str]:
    """The rooms that a module imports, at any depth of nesting, type checking only or not."""
    rooms = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("understudy.")}
    return rooms - {"__version__"}


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in MODULES} <= set(FLOOR)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_from_above(path: Path) -> None:
    room = room_of(path)
    for other in imported_rooms(path.read_text(encoding="utf-8")) - {room}:
        assert FLOOR[other] < FLOOR[room], f"{path.relative_to(PACKAGE)} imports {other}, which is not above {room}"


def test_the_guard_sees_a_breach() -> None:
    assert imported_rooms("def f():\n    from understudy.cli import app\n    import understudy.rig.direct") == {
        "cli",
        "rig",
    }
