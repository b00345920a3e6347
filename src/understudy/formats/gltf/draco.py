"""Draco compression (KHR_draco_mesh_compression), decoded by the Draco library in a guarded child process.

The library is C++. None of 1,500 damaged meshes crashed it, but it promises nothing: a crash, a hang or a claim of too
much memory ends the child and gives one sentence. All meshes of a file are decoded by one child.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, MissingExtra
from understudy.formats.gltf.document import DRACO_EXTENSION, GltfBuffers, GltfDocument
from understudy.formats.gltf.json_object import JsonObject

CHILD_COMMAND = "from understudy.formats.gltf import draco; draco.run_child()"
# Starting takes a fifth of a second of processor time; the library decodes some ten megabytes a second.
BASE_CPU_SECONDS, BYTES_PER_CPU_SECOND = 3, 1_000_000
WALL_SECONDS_PER_CPU_SECOND = 20  # on a machine that is busy with other work
CHILD_MEMORY_BYTES = 1 << 30


def decode_meshes(document: GltfDocument, buffers: GltfBuffers, primitives: list[JsonObject]) -> dict[int, Array]:
    """The arrays that compressed primitives hold, by the number of the accessor that each stands for.

    Args:
        document: The document.
        buffers: Its buffers.
        primitives: The compressed primitives.

    Returns:
        (count, n) arrays: the attributes, and the triangles' corners (3 T, 1).

    Raises:
        MissingExtra: If the Draco library is not installed.
        BadFile: If a mesh is damaged.
    """
    if importlib.util.find_spec("DracoPy") is None:
        raise MissingExtra(f"{document.path}: reading Draco compression", "draco")
    entries = [primitive.child("extensions").child(DRACO_EXTENSION) for primitive in primitives]
    sources = []
    for entry in entries:
        view = document.reference(entry, "bufferView", "bufferViews")
        if view is None:
            raise entry.bad("bufferView", "is missing")
        sources.append(buffers.view(view)[0])
    answer, data = _run_child(document, sources)
    if "bad" in answer:
        raise entries[int(answer["bad"])].bad("", "holds a Draco mesh that is damaged or far too large")
    decoded: dict[tuple[int, int], Array] = {}
    start = 0
    for mesh, attribute, dtype, shape in answer["arrays"]:
        array = np.frombuffer(data, np.dtype(dtype), int(np.prod(shape)), start).reshape(shape)
        start += array.nbytes
        decoded[mesh, attribute] = array
    result: dict[int, Array] = {}
    for number, (primitive, entry) in enumerate(zip(primitives, entries)):
        result |= _arrays_by_accessor(document, primitive, entry, decoded, number)
    return result


def _arrays_by_accessor(
    document: GltfDocument, primitive: JsonObject, entry: JsonObject, decoded: dict[tuple[int, int], Array], number: int
) -> dict[int, Array]:
    corners = document.reference(primitive, "indices", "accessors")
    if corners is None:
        raise primitive.bad("indices", "is missing, but a compressed primitive needs an accessor for its triangles")
    result = {corners: decoded[number, -1].reshape(-1, 1)}
    attributes, numbers = primitive.child("attributes"), entry.child("attributes")
    for key in numbers.value:
        accessor = document.reference(attributes, key, "accessors")
        array = decoded.get((number, numbers.integer(key)))
        if array is None:
            raise numbers.bad(key, "names an attribute that the compressed mesh does not have")
        if accessor is not None:
            result[accessor] = array.reshape(len(array), -1)
    return result


def _run_child(document: GltfDocument, sources: list[memoryview]) -> tuple[dict[str, Any], memoryview]:
    """Give the compressed meshes to a child; its answer, and the bytes of all arrays.

    It gets one line of JSON, {"sizes": [bytes of each mesh], "budget": bytes}, then the compressed meshes. It answers
    one line of JSON, {"arrays": [[mesh, attribute, dtype, shape], ...]} or {"bad": mesh}, then the arrays; attribute -1
    is the triangles.
    """
    total = sum(map(len, sources))
    seconds = BASE_CPU_SECONDS + total // BYTES_PER_CPU_SECOND
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "OPENBLAS_NUM_THREADS": "1",
    }
    budget = max(0, min(CHILD_MEMORY_BYTES, document.left) // 4)
    header = json.dumps({"sizes": [len(source) for source in sources], "budget": budget}).encode() + b"\n"
    damaged = BadFile(document.path, "is damaged: the Draco library cannot get through its meshes")
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD_COMMAND, str(seconds)],
            input=header + b"".join(sources),
            capture_output=True,
            env=environment,
            timeout=WALL_SECONDS_PER_CPU_SECOND * seconds,
        )
        line, _, _ = done.stdout.partition(b"\n")
        answer = json.loads(line)
    except (subprocess.TimeoutExpired, ValueError):
        raise damaged from None
    document.take(4 * (len(done.stdout) - len(line)), ())
    return answer, memoryview(done.stdout)[len(line) + 1 :]


def run_child() -> None:
    """Decode all meshes, in the child, and leave at once, without the library's clean-up."""
    _limit_resources(int(sys.argv[1]))
    import DracoPy

    header = json.loads(sys.stdin.buffer.readline())
    entries: list[list[Any]] = []
    arrays: list[bytes] = []
    left = header["budget"]
    answer: dict[str, Any] = {"arrays": entries}
    for number, size in enumerate(header["sizes"]):
        try:
            mesh = DracoPy.decode(sys.stdin.buffer.read(size))
            decoded = [(-1, mesh.faces.astype("<u4")), *((item["unique_id"], item["data"]) for item in mesh.attributes)]
        except Exception:  # the library has errors of many kinds; each means that the mesh is damaged
            decoded = []
        left -= sum(array.nbytes for _, array in decoded)
        if not decoded or left < 0:
            answer, arrays = {"bad": number}, []
            break
        for attribute, array in decoded:
            entries.append([number, int(attribute), array.dtype.str, array.shape])
            arrays.append(array.tobytes())
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + b"".join(arrays))
    sys.stdout.buffer.flush()
    os._exit(0)


def _limit_resources(processor_seconds: int) -> None:
    """Bounds that the system enforces; where it knows none, only the parent's clock bounds the child."""
    try:
        import resource
    except ImportError:
        return
    for kind, bound in (
        (resource.RLIMIT_CPU, processor_seconds),
        (resource.RLIMIT_DATA, CHILD_MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (bound, bound))
