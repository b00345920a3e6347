"""The order of the package: a module imports only from lines above its own, and no two modules import each other.

`LAYERS` orders the rooms (names on one line do not import each other), `INSIDE` the sub-packages of a room. Cycles are
counted over the imports at module level; those inside functions are allowed, as they run later.
"""

from __future__ import annotations

import ast

from tests.data_folder import PROJECT
from tools.house_report import Module, Modules, find_cycles, read_modules

import understudy

LAYERS = """
errors
checks | files
schema | storage | maths
character | gp
formats
cast
deform | perform | edit | express | transfer
render | batch
io
studio
cli
"""
INSIDE = """
character: skinning rig body
perform: features runtime
edit: points solver
express: graph acting
"""
FLOOR = {room.strip(): number for number, line in enumerate(LAYERS.strip().splitlines()) for room in line.split("|")}
ORDER = {row.split(":")[0]: row.split(":")[1].split() for row in INSIDE.strip().splitlines()}


def names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names of the package that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.startswith("understudy.")]
    assert node.level == 0, "imports are absolute"
    return [f"{node.module}.{alias.name}" for alias in node.names if (node.module or "").startswith("understudy.")]


def breaches(modules: Modules) -> list[str]:
    """The imports that go up or sideways, between rooms and inside them, at any depth of nesting."""
    found = []
    for module in modules.values():
        _, room, folder = (*module.name.split("."), "", "")[:3]
        if room not in FLOOR:
            continue  # the front door and `python -m understudy` import anything
        for name in (
            name
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in names(node)
        ):
            _, other, place = (*name.split("."), "", "")[:3]
            if other in FLOOR and other != room and FLOOR[other] >= FLOOR[room]:
                found.append(f"{module.name} imports {name}, which is not above it")
            order = ORDER.get(room, [])
            if other == room and {folder, place} <= set(order) and order.index(place) > order.index(folder):
                found.append(f"{module.name} imports {name}, though {room} is ordered {' < '.join(order)}")
    return found


def test_every_room_has_its_layer() -> None:
    assert {(*name.split("."), "")[1] for name in read_modules(PROJECT)} - {"", "__main__"} <= set(FLOOR)


def test_imports_go_down() -> None:
    assert breaches(read_modules(PROJECT)) == []


def test_no_two_modules_import_each_other() -> None:
    assert find_cycles(read_modules(PROJECT), inner=False) == []


def test_no_public_name_is_that_of_a_room() -> None:
    """`import understudy.edit` would replace a function `understudy.edit`."""
    assert set(getattr(understudy, "__all__", ())) & set(FLOOR) == set()


def test_the_guard_sees_a_breach_and_a_cycle() -> None:
    planted = {
        "understudy.maths.a": "def f():\n    from understudy.cli import app\n",
        "understudy.edit.points.b": "from understudy.edit.solver import c\n",
        "understudy.edit.solver.c": "from understudy.edit.points import b\n",
    }
    modules = {name: Module(name, PROJECT, 1, ast.parse(text)) for name, text in planted.items()}
    assert len(breaches(modules)) == 2
    assert len(find_cycles(modules, inner=False)) == 1
