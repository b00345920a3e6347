"""The studio for half an hour: random commands every second, and whether anything grows, breaks or jumps.

    python -m benchmarks.studio_soak [SECONDS]

A page without a browser draws what the live dragon shows, and tells it something each second: changes of label, moves,
plays, mixes, idles, looks, dials, scripts. Watched are the memory of the server, errors, dropped connections, and the
motion: the speed of the mesh (root mean square over its vertices) and the jump of its velocity from one frame to the
next, each against the largest of the dragon's own clips at the same rate.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.serving.page import Frame, Page
from benchmarks.serving.server import Server

from understudy import cast
from understudy.character import rig
from understudy.checks import Array

SECONDS = 1800.0
RATE = 60.0
POINTS = 7  # every n-th vertex is watched
WARM = 0.2  # of the time, after which memory should no longer grow
LARGEST_GROWTH = 5.0  # percent


def main() -> None:
    """Run it, print what was found, and exit with 1 where something is wrong."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    speed, jump = clips_own()
    print(f"the clips' own: {speed:.3f} m/s, jumps of {jump:.3f} m/s from frame to frame", flush=True)
    with Server() as server, Page(server.address) as page:
        page.answered(page.ask("tell", command="idle"))  # it performs; until then it stood there at rest
        found = soak(server, page, seconds)
        log = server.log.read_text()
    for line in found.lines(speed, jump, log):
        print(line)
    sys.exit(0 if found.sound(speed, jump, log) else 1)


@dataclass
class Found:
    """What was seen."""

    seconds: float = 0.0
    frames: int = 0
    commands: int = 0
    refused: list[str] = field(default_factory=list)
    speed: float = 0.0  # metres a second, the largest
    jump: float = 0.0  # metres a second from a frame to the next, the largest
    worst: str = ""  # what was told before the largest jump
    memory: list[float] = field(default_factory=list)  # megabytes, a value every second
    alive: bool = True

    @property
    def growth(self) -> float:
        """Percent, from the tenth after the warm-up to the last tenth."""
        tenth = max(1, len(self.memory) // 10)
        first = int(WARM * len(self.memory))
        before, after = np.median(self.memory[first : first + tenth]), np.median(self.memory[-tenth:])
        return float(100 * (after / before - 1))

    def lines(self, speed: float, jump: float, log: str) -> Iterator[str]:
        """For people."""
        yield f"{self.seconds:.0f} s, {self.frames} frames ({self.frames / self.seconds:.1f} a second)"
        yield f"{self.commands} commands, {len(self.refused)} refused {self.refused[:3]}"
        yield f"memory {self.memory[0]:.0f} MB at first, {self.memory[-1]:.0f} MB at last, growth {self.growth:+.2f} %"
        yield f"speed at most {self.speed:.3f} m/s, {self.speed / speed:.2f} of the clips' own"
        yield f"velocity jumps by at most {self.jump:.3f} m/s, {self.jump / jump:.2f} of the clips' own ({self.worst})"
        yield f"connection {'held' if self.alive else 'LOST'}, the server's log has {len(log.splitlines())} lines"

    def sound(self, speed: float, jump: float, log: str) -> bool:
        """Whether all is as asked for."""
        calm = self.speed <= speed and self.jump <= jump
        return calm and self.alive and not self.refused and self.growth <= LARGEST_GROWTH and not log.strip()


def clips_own() -> tuple[float, float]:
    """The largest speed and velocity jump of the dragon's clips at the rate of the stage."""
    asset = cast.load("dragon")
    own = rig.rig_of(asset.character())
    speeds, jumps = [], []
    for animation in asset.animations:
        rows = own.pose(animation, animation.frame_times(RATE))
        motion = np.concatenate([own.vertices(rows[i : i + 64])[:, ::POINTS] for i in range(0, len(rows), 64)])
        velocity = np.diff(motion, axis=0) * RATE
        speeds.append(_size(velocity).max(initial=0.0))
        jumps.append(_size(np.diff(velocity, axis=0)).max(initial=0.0))
    return float(max(speeds)), float(max(jumps))


def soak(server: Server, page: Page, seconds: float) -> Found:
    """Tell it something every second, and watch."""
    rng, found = random.Random(0), Found()
    began = due = time.perf_counter()
    last: Frame | None = None
    velocity: Array | None = None
    told = ""
    while time.perf_counter() - began < seconds:
        if time.perf_counter() >= due:
            due += 1.0
            kind, fields = command(rng, page.document)
            told = f"{kind} {fields}"
            page.ask(kind, **fields)
            found.commands += 1
            found.memory.append(server.memory())
        try:
            frame = page.take(5.0)
        except (TimeoutError, OSError):
            found.alive = False
            break
        if not isinstance(frame, Frame):
            continue
        found.frames += 1
        if last is not None and frame.time > last.time:
            now = (frame.vertices[::POINTS].astype(np.float64) - last.vertices[::POINTS]) / (frame.time - last.time)
            found.speed = max(found.speed, float(_size(now[None])[0]))
            even = frame.time - last.time < 1.5 / RATE  # a page that dropped frames sees larger jumps than there were
            if velocity is not None and even:
                jump = float(_size((now - velocity)[None])[0])
                if jump > found.jump:
                    found.jump, found.worst = jump, told
            velocity = now if even else None
        last = frame
    found.seconds = time.perf_counter() - began
    found.refused = page.failures
    found.alive = found.alive and server.alive
    return found


def command(rng: random.Random, document: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Something to tell the dragon."""
    model = document["models"][0]
    labels, clips, poses = model["labels"], model["clips"], model["poses"]
    label = rng.choice(labels)
    script = f'[[do]]\ncommand = "transition"\nlabel = "{label}"\n[[do]]\ncommand = "idle"\nseconds = 0.5\n'
    point = [rng.uniform(-2, 2), rng.uniform(0, 2), rng.uniform(0.5, 3)]
    return rng.choice(
        [
            ("tell", {"command": "transition", "label": label}),
            ("tell", {"command": "transition", "label": label}),
            ("tell", {"command": "move", "pose": rng.choice(poses)} if poses else {"command": "idle"}),
            ("tell", {"command": "play", "clip": rng.choice(clips)}),
            ("tell", {"command": "idle", "label": label}),
            ("tell", {"command": "mix", "labels": rng.sample(labels, 2), "weight": round(rng.random(), 2)}),
            ("look", {"point": rng.choice([point, None])}),
            ("dial", {"liveliness": round(rng.uniform(0, 2), 2), "stillness": round(rng.random(), 2)}),
            ("runScript", {"text": script}),
        ]
    )


def _size(motion: Array) -> Array:
    """(F,) root mean square over the vertices of (F, V, 3)."""
    return np.sqrt(np.einsum("fvi,fvi->f", motion, motion, dtype=np.float64) / motion.shape[1])


if __name__ == "__main__":
    main()
