"""Binary frames: a header of 32 bytes, then float32, all little-endian.

    u32 magic 'USF1' | u32 stream (0 the stage, 1 the crowd) | u32 sequence | u32 form | f64 time (s) | u32 a | u32 b

| form | a | b | payload |
|---|---|---|---|
| 1 joints | B | S | B matrices (3 rows of 4) world_from_joint, then S shape weights |
| 2 vertices | V | 0 | V positions, of which the page makes the normals |
| 3 crowd | characters | floats of each | rows |
"""

from __future__ import annotations

import struct

HEADER = struct.Struct("<IIIIdII")
MAGIC = 0x31465355
JOINTS, VERTICES, CROWD = 1, 2, 3
STAGE_STREAM, CROWD_STREAM = 0, 1


def framed(stream: int, sequence: int, form: int, time: float, a: int, b: int, payload: bytes | memoryview) -> bytes:
    """One frame as it goes over the wire."""
    return b"".join((HEADER.pack(MAGIC, stream, sequence & 0xFFFFFFFF, form, time, a, b), payload))
