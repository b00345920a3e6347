"""Count how a checkout is built: rooms, names, documented arguments, import cycles, and the files that a job enters.

    python tools/house_report.py --root ../old --trace --json old.json

Static figures come from syntax trees; no name of a room or module is used, so two checkouts are counted the same way.
Public: no part of the dotted name begins with an underscore. A function is named by a participle if the first word of
its name is one (`told`, `kept_keys`); words that are also verbs or nouns (`set`, `bound`) do not count. An argument is
documented if its name is a word of the docstring; for fields and `__init__` the docstring of the class counts. A walk
enters a file if it runs the body of a function or a class of it, in any thread; a module that is imported for its
constants alone is not entered. Calls from one compiled kernel to another are not seen.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click

PACKAGE = "understudy"
MAX_COLUMNS = 120
MAX_FILES = 440  # in the wheel; a reader can hold 440 or so that are found by name
NOT_PARTICIPLES = "bleed breed embed exceed feed hundred indeed need proceed seed shed speed"
IRREGULAR_PARTICIPLES = """
    beaten been begun bent bitten blown born bought bred broken brought built caught chosen clung dealt done drawn
    driven dug eaten fallen fed felt fled flown flung forgotten fought found frozen given gone grown heard held hidden
    hung kept known laid lain led lent lit lost made meant met overlaid paid proven rebuilt ridden risen rung said seen
    sent shaken shone shown shrunk slept slid sold sought spent spoken spun stolen stood struck strung stuck sung sunk
    swept swung taken taught thought thrown told torn understood unwound wept withdrawn won worn woven written"""
PERSONS = re.compile(r"\b(who|whoever|somebody|nobody)\b", re.IGNORECASE)
LINK_ADDRESS = re.compile(r"\]\([^)]*\)|<?https?://\S+")
NUMERIC = re.compile(r"[\w .()+*/<-]*\b\d[\w .()+*/<-]*")
MARKDOWN = "README.md CHANGELOG.md CONTRIBUTING.md docs/**/*.md examples/**/*.md benchmarks/**/*.md"
SCENE = """rate = 25\nseconds = 2\nlabel = "sad"\ndo = [{command = "idle", pose = "sad@3.2", seconds = 0.6},
      {command = "transition", label = "happy"}, {command = "idle", seconds = 1}]"""
PREPARATIONS = ("learn lamp -q -o lamp.understudy", "express build face -q -o face.understudy")
WALKS = {
    "perform": "perform lamp.understudy scene.toml -o out.glb",
    "express act": "express act face.understudy fear surprise -o act.glb",
    "transfer": "transfer actor --to lamp --clip surprise -o surprise.glb",
    "studio drag": "studio lamp --project project --no-browser --port {port}",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Modules = dict[str, "Module"]
Checks = dict[str, bool]


class Module(NamedTuple):
    """One source file: dotted name, path below the package, line count and syntax tree."""

    name: str
    path: Path
    lines: int
    tree: ast.Module


class Figure(NamedTuple):
    """A row of the report: its name, its value, the bar as text, whether it is met, and what was counted."""

    name: str
    value: Any
    bar: str = ""
    met: bool | None = None
    details: Sequence[str] = ()


def read_modules(root: Path) -> Modules:
    """Read all modules of the package of the checkout `root`, by dotted name."""
    package, modules = root / "src" / PACKAGE, {}
    for file in sorted(package.rglob("*.py")):
        path, text = file.relative_to(package), file.read_text(encoding="utf-8")
        name = ".".join((PACKAGE, *path.with_suffix("").parts)).removesuffix(".__init__")
        modules[name] = Module(name, path, len(text.splitlines()), ast.parse(text))
    return modules


def find_repeats(places: Iterable[tuple[str, str]]) -> list[str]:
    """List the names of (name, place) pairs that have more than one place, with their places."""
    by_name = defaultdict(list)
    for name, place in places:
        by_name[name].append(place)
    return [f"{name}: {', '.join(group)}" for name, group in sorted(by_name.items()) if len(group) > 1]


def list_functions(node: ast.AST, prefix: str, nested: bool = False) -> Iterator[tuple[str, Function, bool]]:
    """Yield (dotted name, node, is public) of every function below a node; functions inside functions are private."""
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}.{getattr(child, 'name', '')}"
        if isinstance(child, Function):
            yield name, child, not nested and "._" not in name
            yield from list_functions(child, name, True)
        else:
            yield from list_functions(child, name if isinstance(child, ast.ClassDef) else prefix, nested)


def is_participle(name: str) -> bool:
    """Tell whether the first word of a function's name is a past participle."""
    word = name.lstrip("_").split("_")[0].lower()
    regular = len(word) > 3 and word.endswith("ed") and word not in NOT_PARTICIPLES.split()
    return regular or word in IRREGULAR_PARTICIPLES.split()


def list_parameters(function: Function) -> list[str]:
    """List the parameters of a function, without `self` and `cls`."""
    given = function.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return [one.arg for one in every if one and one.arg not in ("self", "cls") and not one.arg.startswith("_")]


def check_words(place: str, names: Iterable[str], *nodes: Function | ast.ClassDef) -> Checks:
    """Tell for each parameter, as `place(name)`, whether its name is a word of the docstrings of `nodes`."""
    text = " ".join(ast.get_docstring(node) or "" for node in nodes)
    return {f"{place}({name})": re.search(rf"\b{name}\b", text) is not None for name in names}


def check_definition(modules: Modules, where: str, node: ast.AST | None, place: str) -> Checks:
    """Check a function, or the fields, arguments of `__init__` and public methods of a class and its bases."""
    if not isinstance(node, ast.ClassDef):
        return check_words(place, list_parameters(node), node) if isinstance(node, Function) else {}
    result: Checks = {}
    for base in node.bases:
        result |= check_definition(modules, *locate(modules, where, ast.unparse(base)), place)
    has_fields = re.search("dataclass|NamedTuple", " ".join(map(ast.unparse, [*node.decorator_list, *node.bases])))
    for item in node.body:
        if isinstance(item, Function) and item.name == "__init__":
            result |= check_words(place, list_parameters(item), node, item)
        elif isinstance(item, Function) and not item.name.startswith("_"):
            result |= check_words(f"{place}.{item.name}", list_parameters(item), item)
        elif isinstance(item, ast.AnnAssign) and has_fields and "ClassVar" not in ast.unparse(item.annotation):
            result |= check_words(place, [name for name in [ast.unparse(item.target)] if name[0] != "_"], node)
    return result


def locate(modules: Modules, where: str, name: str) -> tuple[str, ast.AST | None]:
    """Find the module and the node that define `name`, as the module `where` knows it; imports are followed."""
    for node in ast.walk(modules[where].tree) if where in modules else ():
        if isinstance(node, ast.ClassDef | Function) and node.name == name:
            return where, node
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            if (alias.asname or alias.name) == name:
                return locate(modules, str(node.module), alias.name)
    return where, None


def read_front_door(root: Path, modules: Modules) -> dict[str, tuple[str, ast.AST | None]]:
    """Find the module and the node that define each name of `__all__`.

    It is looked up in tables {name: "module"} or {name: "module:name"}, among imports, or by importing the package.
    """
    names: list[str] = []
    table: dict[str, list[str]] = {}
    for node in ast.walk(modules[PACKAGE].tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and re.match("__all__\\b", ast.unparse(node)):
            names = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
        for key, value in zip(node.keys, node.values) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                target = f"{PACKAGE}." + str(value.value).lstrip(".").removeprefix(f"{PACKAGE}.")
                table[key.value] = target.split(":") if ":" in target else [target, key.value]
    result = {}
    for name in (name for name in names or table if not name.startswith("_")):
        result[name] = locate(modules, *table.get(name, (PACKAGE, name)))
        if result[name][1] is None:
            code = f"import {PACKAGE}; thing = {PACKAGE}.{name}; print(thing.__module__, thing.__qualname__)"
            environment = os.environ | {"PYTHONPATH": str(root / "src")}
            run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
            result[name] = locate(modules, *run.stdout.split()) if run.returncode == 0 else ("", None)
    return result


def list_imports(node: ast.AST, inner: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield imports below a node, without those for type checking; `inner` adds those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from (item for part in child.orelse for item in list_imports(part, inner))
        elif inner or not isinstance(child, Function):
            yield from list_imports(child, inner)


def find_cycles(modules: Modules, inner: bool) -> list[str]:
    """List the groups of modules that import each other in a circle; `inner` adds imports inside functions."""
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for importer, module in modules.items():
        for node in list_imports(module.tree, inner):
            targets = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):  # of a module, or of a name in a module
                targets = [f"{node.module}.{target}" for target in targets]
                targets = [target if target in modules else str(node.module) for target in targets]
            graph[importer] |= {target for target in targets if target in modules and target != importer}
    reached = {name: set(targets) for name, targets in graph.items()}
    for middle, name in product(graph, graph):
        if middle in reached[name]:
            reached[name] |= reached[middle]
    circles = {tuple(sorted(o for o in reached[name] if name in reached[o])) for name in graph if name in reached[name]}
    return [" <-> ".join(circle) for circle in sorted(circles)]


def find_long_lines(root: Path) -> list[tuple[str, str]]:
    """List (place, kind) of Markdown lines that are too long; a link is long by its address alone."""
    places = []
    for file in (file for pattern in MARKDOWN.split() for file in sorted(root.glob(pattern))):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > MAX_COLUMNS:
                link = len(LINK_ADDRESS.sub("", line)) <= MAX_COLUMNS
                kind = "table" if line.lstrip().startswith("|") else "link" if link else "text"
                places.append((f"{file.relative_to(root)}:{number}", kind))
    return places


def list_constants(module: Module) -> list[str]:
    """List the constants of a module, in capitals, whose value is an expression of numbers and names."""
    assigned = [node for node in module.tree.body if isinstance(node, ast.Assign)]
    targets = [node.targets[0] for node in assigned if NUMERIC.fullmatch(ast.unparse(node.value))]
    return [f"{module.name}.{target.id}" for target in targets if isinstance(target, ast.Name) and target.id.isupper()]


def count(name: str, details: Iterable[str], most: int | None = None) -> Figure:
    """Make the figure of a number of things; `most` is the largest number that meets the bar."""
    details = list(details)
    return Figure(name, len(details), *(("", None) if most is None else (f"<= {most}", len(details) <= most)), details)


def share(name: str, documented: Checks, bar: str = "") -> Figure:
    """Make the figure of the share of documented arguments; the bar is met if there are any and none is missing."""
    total, missing = len(documented), [place for place, known in documented.items() if not known]
    value = f"{total - len(missing)} of {total} ({100 * (1 - len(missing) / max(total, 1)):.1f} %)" if total else "none"
    return Figure(name, value, bar, total > 0 and not missing if bar else None, missing)


def static_figures(root: Path) -> list[Figure]:
    """Count what can be counted without a run."""
    modules = read_modules(root)
    everything = modules.values()
    rooms = defaultdict(list)
    for module in everything:
        rooms[module.path.parts[0] if len(module.path.parts) > 1 else "(top)"].append(module.lines)
    names = [(m.path.name, str(m.path)) for m in everything if m.path.name != "__init__.py"]
    folders = Counter(str(Path(place).parent) for _, place in names).most_common()
    crowded = [f"{folder}: {number}" for folder, number in folders if number > 20]
    classes = [(n.name, m.name) for m in everything for n in m.tree.body if isinstance(n, ast.ClassDef)]
    functions = [item for module in everything for item in list_functions(module.tree, module.name)]
    participles = [(name, public) for name, node, public in functions if is_participle(node.name)]
    arguments, documented = Checks(), Checks()
    for name, node, public in functions:
        arguments |= check_words(name, list_parameters(node), node) if public else {}
    front = read_front_door(root, modules)
    for name, place in front.items():
        documented |= check_definition(modules, *place, name)
    long = find_long_lines(root)
    lines = sum(map(sum, rooms.values()))
    constants = [place for module in everything for place in list_constants(module)]
    strings = [(m, n) for m in everything for n in ast.walk(m.tree) if isinstance(n, ast.Constant)]
    persons = [f"{m.path}:{n.lineno}: {word}" for m, n in strings for word in PERSONS.findall(str(n.value))]
    return [
        *(Figure(f"room {room}", f"{len(n)} files, {sum(n):,} lines") for room, n in sorted(rooms.items())),
        Figure("files in the wheel", len(modules), f"<= {MAX_FILES}", len(modules) <= MAX_FILES),
        Figure("lines in the wheel", f"{lines:,}"),
        # 116 in version 0.1, which was cut three times too fine, and 207 after the move to rooms
        Figure("lines of a file in the wheel", lines // len(modules), ">= 207", lines >= 207 * len(modules)),
        Figure("modules in the largest folder", folders[0][1], "<= 20", not crowded, crowded),
        count("file names that occur twice", find_repeats(item for item in names if item[0] != "handlers.py")),
        count("files called handlers.py", (place for name, place in names if name == "handlers.py")),
        count("public class names that occur twice", find_repeats(item for item in classes if item[0][0] != "_"), 0),
        count("public participle functions", (name for name, public in participles if public), 19),
        count("private participle functions", (name for name, public in participles if not public)),
        count("front door: names", front),
        count("front door: neither class nor function", (name for name, place in front.items() if place[1] is None)),
        share("front door: arguments documented", documented, "100 %"),
        share("public functions: arguments documented", arguments),
        count("import cycles", find_cycles(modules, False), 0),
        count("import cycles, imports in functions too", find_cycles(modules, True)),
        count(f"Markdown lines over {MAX_COLUMNS}", (place for place, _ in long), 99),
        count("  of them neither table nor link", (place for place, kind in long if kind == "text"), 0),
        count("numeric constants", constants),
        count("  of them of one word", (place for place in constants if "_" not in place.split(".")[-1].strip("_"))),
        count("who, whoever, somebody, nobody", persons),
    ]


def trace_walks(root: Path) -> list[Figure]:
    """Run the four walks, each in a process of its own; the learning before them is not counted."""
    figures = []
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scene.toml").write_text(SCENE, encoding="utf-8")
        for command in PREPARATIONS:
            subprocess.run([sys.executable, "-m", PACKAGE, *command.split()], cwd=folder, env=environment, check=True)
        for name in WALKS:
            command = [sys.executable, str(Path(__file__).resolve()), "--walk", name]
            if subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr).returncode:
                figures.append(Figure(f"files entered by {name}", "failed"))
                continue
            files = json.loads(Path(folder, "entered.json").read_text(encoding="utf-8"))
            figures.append(count(f"files entered by {name}", files, 90 if name == "perform" else None))
            figures.append(count("  of them by a function call", (file for file, called in files.items() if called)))
    return figures


def walk(name: str) -> None:
    """Run one walk; write to `entered.json` the files that it enters, and for each whether a function was called."""
    import understudy.cli

    package, port = str(Path(understudy.__file__).parent) + os.sep, 30000 + os.getpid() % 30000
    entered: Checks = {}

    def record(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and code.co_name != "<module>":
            file = code.co_filename.removeprefix(package)
            entered[file] = entered.get(file, False) or bool(code.co_flags & inspect.CO_OPTIMIZED)

    threading.setprofile(record)
    sys.setprofile(record)
    sys.argv = [PACKAGE, *WALKS[name].format(port=port).split()]
    try:
        if name == "studio drag":
            studio = threading.Thread(target=understudy.cli.main, daemon=True)
            studio.start()
            while studio.is_alive() and socket.socket().connect_ex(("127.0.0.1", port)):
                time.sleep(0.1)
            drag(port, entered.clear)
        else:
            understudy.cli.main()
    finally:
        Path("entered.json").write_text(json.dumps(dict(sorted(entered.items()))), encoding="utf-8")


def drag(port: int, begin: Callable[[], None]) -> None:
    """Drag the lamp's head in the edit mode of the studio at `port`, by its messages; `begin` is called just before."""
    from websockets.sync.client import connect

    with connect(f"ws://127.0.0.1:{port}/live", max_size=None, compression=None) as page:

        def ask(answer: str, **request: Any) -> dict[str, Any]:
            if request:
                page.send(json.dumps(request))
            while True:
                message = page.recv(timeout=600)
                if isinstance(message, bytes):
                    _, stream, sequence = struct.unpack_from("<III", message)
                    page.send(json.dumps({"kind": "seen", "sequence": sequence, "stream": stream}))
                elif (event := json.loads(message))["kind"] == answer and event.get("id") == request.get("id"):
                    return event
                elif event["kind"] == "failed":
                    raise RuntimeError(event)

        while not (characters := ask("document")["document"]["characters"]):
            pass
        ask("done", kind="editOpen", id=1, character=characters[0]["id"], clip="curious")
        begin()
        point = {"joint": "Head", "offset": [0, 0, 0], "vertex": None}
        start = ask("done", kind="editBegin", id=2, operation="move", point=point, time=3.7)["result"]
        x, y, z = start["place"]
        ask("editOutcome", kind="editDrag", gesture=start["gesture"], number=1, to=[x, y + 0.05, z])
        ask("done", kind="editEnd", id=3, gesture=start["gesture"], commit=True)


@click.command()
@click.option("--root", type=click.Path(exists=True, path_type=Path), default=Path(__file__).parents[1])
@click.option("--trace", is_flag=True, help="Run the four walks too: some minutes.")
@click.option("--json", "output", type=click.Path(path_type=Path), help="Where to write the figures with their lists.")
@click.option("--walk", "name", type=click.Choice(list(WALKS)), hidden=True)
def report(root: Path, trace: bool, output: Path | None, name: str | None) -> None:
    """Print the figures of a checkout as one table, then what is behind the bars that are not met."""
    if name:
        walk(name)
        return
    figures = static_figures(root.resolve()) + (trace_walks(root.resolve()) if trace else [])
    if output:
        output.write_text(json.dumps([figure._asdict() for figure in figures], indent=1) + "\n", encoding="utf-8")
    words = {True: "met", False: "not met", None: ""}
    rows = [("figure", "value", "bar", ""), *((f.name, str(f.value), f.bar, words[f.met]) for f in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    for figure in figures:
        if figure.met is False and figure.details:
            click.echo(f"\n{figure.name}:\n" + textwrap.fill("; ".join(figure.details), 118))


if __name__ == "__main__":
    report()
