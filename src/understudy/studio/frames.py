"""Binary frames: a header of 32 bytes, then float32, all little-endian.

    u32 magic 'USF1' | u32 stream | u32 sequence | u32 form | f64 time (s) | u32 a | u32 b

| form | a | b | payload |
|---|---|---|---|
| 1 joints | B | S | B matrices (3 rows of 4) world_from_joint, then S shape weights |
| 2 vertices | V | 0 | V positions, of which the page makes the normals |
| 3 crowd | characters | floats of each | rows |
| 4 motion curves | N curves | F frames | see `studio.edit.paths` |
| 5 graph | N columns | S samples | see `studio.edit.graph` |
| 6 ghosts | N | words of each | N times (s), then N payloads of form 1 or 2, whichever the stage has |

The streams are 0 the stage, 1 the crowd, 2 motion curves, 3 the graph editor, 4 ghosts.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct("<IIIIdII")
MAGIC = 0x31465355
JOINTS, VERTICES, CROWD, PATHS, GRAPH, GHOSTS = 1, 2, 3, 4, 5, 6
STAGE_STREAM, CROWD_STREAM, PATHS_STREAM, GRAPH_STREAM, GHOSTS_STREAM = 0, 1, 2, 3, 4


def framed(stream: int, sequence: int, form: int, time: float, a: int, b: int, payload: bytes | memoryview) -> bytes:
    """One frame as it goes over the wire."""
    return b"".join((HEADER.pack(MAGIC, stream, sequence & 0xFFFFFFFF, form, time, a, b), payload))
