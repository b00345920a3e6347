"""The order of the package: a module imports only from lines above its own, and no two modules import each other.

`LAYERS` orders the rooms (names on one line do not import each other), `INSIDE` the sub-packages of a room. Cycles are
counted over the imports at module level; those inside functions are allowed, as they run later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import understudy

LAYERS = """
errors
checks | files
schema | storage | estimator | maths
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
PACKAGE = Path(understudy.__file__).parent
MOST_MODULES = 20  # in one folder


def modules() -> dict[str, str]:
    """Dotted name -> source text of every module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


def imports(source: str, everywhere: bool) -> Iterator[str]:
    """The dotted names that a module imports from the package: at module level, or everywhere in it."""
    tree = ast.parse(source)
    for node in ast.walk(tree) if everywhere else _at_module_level(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("understudy."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module and node.module.split(".")[0] == "understudy":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _at_module_level(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _at_module_level(node.body)
        yield node


def room(module: str) -> str:
    """The room of a dotted name: `edit` of `understudy.edit.solver.qp`."""
    return (module.split(".") + [""])[1]


def breaches(sources: Mapping[str, str]) -> list[str]:
    """The imports that go up or sideways, between rooms and inside them."""
    inside = {row.split(":")[0]: row.split(":")[1].split() for row in INSIDE.strip().splitlines()}
    found = []
    for module, source in sources.items():
        here = room(module)
        if here not in FLOOR:
            continue  # the front door and `python -m understudy` import anything
        for name in imports(source, everywhere=True):
            there = room(name)
            if there in FLOOR and there != here and FLOOR[there] >= FLOOR[here]:
                found.append(f"{module} imports {name}, which is not below it")
            order = inside.get(here, [])
            a, b = ((each.split(".") + ["", "", ""])[2] for each in (module, name))
            if there == here and a in order and b in order and order.index(b) > order.index(a):
                found.append(f"{module} imports {name}, though {here} is ordered {' < '.join(order)}")
    return found


def cycles(sources: Mapping[str, str]) -> list[list[str]]:
    """Modules that import each other in a circle at module level, each circle once."""
    graph = {}
    for module, source in sources.items():
        names = {name if name in sources else name.rpartition(".")[0] for name in imports(source, everywhere=False)}
        graph[module] = {name for name in names if name in sources and name not in (module, "understudy")}
    found, done = [], set()

    def visit(module: str, trail: list[str]) -> None:
        if module in trail:
            found.append(trail[trail.index(module) :])
        elif module not in done:
            for name in sorted(graph[module]):
                visit(name, [*trail, module])
            done.add(module)

    for module in graph:
        visit(module, [])
    return found


def test_every_room_has_its_layer() -> None:
    assert {room(module) for module in modules()} - {"", "__main__"} <= set(FLOOR)


def test_imports_go_down() -> None:
    assert breaches(modules()) == []


def test_no_two_modules_import_each_other() -> None:
    assert cycles(modules()) == []


def test_no_folder_is_too_full() -> None:
    folders = [path.parent for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    counts = {str(folder.relative_to(PACKAGE)): folders.count(folder) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_no_public_name_is_that_of_a_room() -> None:
    """`import understudy.edit` would replace a function `understudy.edit`."""
    assert set(getattr(understudy, "__all__", ())) & {room(module) for module in modules()} == set()


def test_the_guard_sees_a_breach_and_a_cycle() -> None:
    planted = {
        "understudy.maths.a": "def f():\n    from understudy.cli import app\n",
        "understudy.edit.points.b": "from understudy.edit.solver import c\n",
        "understudy.edit.solver.c": "from understudy.edit.points import b\n",
        "understudy.edit.points": "",
        "understudy.edit.solver": "",
    }
    assert len(breaches(planted)) == 2
    assert cycles(planted) == [["understudy.edit.points.b", "understudy.edit.solver.c"]]
