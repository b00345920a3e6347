"""`understudy transfer --live`: the actor's frames come in, the character's go out at once."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.streaming import address
from understudy.cli.transfer_work import Target, Wish, open_motions, open_pairs, open_stage, pairs_beside
from understudy.errors import BadFile

if TYPE_CHECKING:
    from understudy.retarget.live_input import LiveFrame
    from understudy.retarget.poses import Poses
    from understudy.retarget.transfer import Stage


def live_command(motion: str, character: str, keys: str | None, where: str, wish: Wish, quiet: bool) -> None:
    """Follow MOTION: standard input (`-`) as its lines arrive, or a file, played at its own speed."""
    from understudy.retarget.live import Live
    from understudy.retarget.live_input import frames_of

    target = Target.open(character)
    place = pairs_beside(target.keys(keys), character)
    folder = Path() if motion == "-" else Path(motion).parent
    known = {} if motion == "-" else open_motions(motion, Wish(units=wish.units))[1]
    pairs = open_pairs(place, known, folder, target, wish)
    stage = open_stage(target, pairs, wish)
    live = Live.of(stage)
    frames = frames_of(sys.stdin) if motion == "-" else _played(motion, wish)
    state, took, count = live.init(), 0.0, 0
    with _output(where, stage) as out:
        for frame in frames:
            if len(frame.points) != pairs.source.shape[1]:
                raise BadFile(
                    "live input",
                    f"should have the {pairs.source.shape[1]} points of the actor of the pairs, "
                    f"but has {len(frame.points)}",
                )
            began = time.perf_counter()
            state, pose = live.step(state, frame.time, frame.points, frame.frame)
            took, count = took + time.perf_counter() - began, count + 1
            out.send(pose, frame.time)
    if not count:
        raise BadFile("live input", "holds no frame")
    if not quiet:
        click.echo(f"{count} frames, {1e3 * took / count:.2f} ms each ({count / took:.0f} a second)", err=True)


def _played(motion: str, wish: Wish) -> Iterator[LiveFrame]:
    """The frames of a file at the moments at which they would come."""
    from understudy.retarget.live_input import LiveFrame

    _, motions = open_motions(motion, wish)
    source = next(iter(motions.values()))
    began = time.perf_counter()
    for number in range(len(source)):
        due = number / source.rate
        time.sleep(max(0.0, began + due - time.perf_counter()))
        yield LiveFrame(due, source.points[number], source.frames[number])


class _Lines:
    """A JSON line a frame on standard output: time, and of every joint that moves x, y, z and a quaternion."""

    def __init__(self, stage: Stage) -> None:
        moves = stage.freedom.turning | stage.freedom.moving
        moves[stage.target.skeleton.roots] = True
        self.joints = [j for j in range(len(moves)) if moves[j]]

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()

    def send(self, pose: Poses, moment: float) -> None:
        """One frame."""
        names = pose.skeleton.names
        joints = {
            names[j]: [round(float(v), 6) for v in (*pose.translations[0, j], *pose.rotations[0, j])]
            for j in self.joints
        }
        sys.stdout.write(json.dumps({"time": round(moment, 6), "joints": joints}, separators=(",", ":")) + "\n")
        sys.stdout.flush()


class _Vmc:
    """Bones over UDP by the VMC protocol."""

    def __init__(self, stage: Stage, where: str) -> None:
        from understudy import rig
        from understudy.live.vmc.stream import Stream

        self.rig = rig.of(stage.target)
        host, port = address(where)
        self.stream = Stream(host, port, self.rig, paced=False)

    def __enter__(self) -> _Vmc:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def send(self, pose: Poses, moment: float) -> None:
        """One frame."""
        from understudy.retarget.poses import clip_of

        row = self.rig.pose(clip_of(pose, "live"), [0.0])[0]
        self.stream.send(row, moment)


def _output(where: str, stage: Stage) -> _Lines | _Vmc:
    return _Lines(stage) if where == "-" else _Vmc(stage, where)
