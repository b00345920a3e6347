"""Handlers of the transfer mode. A motion that was carried over is a take of its target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.character import Asset
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.studio.assets import Animation, LoadedCharacter
from understudy.studio.document import TakeEntry
from understudy.studio.messages import transfer as messages
from understudy.studio.perform.recording import TAKE_ENDING, RecordedTake, write_take
from understudy.studio.registry import handles_request
from understudy.studio.shell.open_file import new_id

if TYPE_CHECKING:
    from understudy.studio.session import Session
    from understudy.transfer.pipeline import TransferResult

MODE = "transfer"
PROGRESS_STEPS = 4  # of a transfer, for its progress: read, find the bones, solve, write


@handles_request(messages.Transfer)
async def carry_over(session: Session, request: messages.Transfer) -> messages.TransferOutcome:
    """Put a clip onto another character in a job, and show it."""
    source, target = (session.document.character(id) for id in (request.source, request.target))
    clip = session.document.clip(request.source, request.clip)
    if source is None or target is None or clip is None:
        raise InvalidInput("choose a clip to take the motion from, and a character to put it onto")
    if source.id == target.id:
        raise InvalidInput(f"{target.name} has this motion already; choose another character")
    file = f"{new_id('t')}{TAKE_ENDING}"
    name = f"{clip.title} on {target.name}"

    def work(progress: Callable[[float, float], None], cancelled: Callable[[], bool]) -> tuple[TransferResult, Array]:
        actor, body = session.assets.get(source.id), session.assets.get(target.id)
        animation = session.assets.animation(source, clip)
        progress(0, PROGRESS_STEPS)
        result = carry_motion(
            Asset([actor.character]), animation, body, request, lambda done: progress(done, PROGRESS_STEPS)
        )
        progress(3, PROGRESS_STEPS)
        rows = body.rig.pose(result.clip).astype(np.float32)
        recorded = RecordedTake(rows, float(result.clip.rate), clip.labels, body.character.name)
        write_take(recorded, session.project.place("takes", file))
        return result, rows

    result, rows = await session.jobs.run(f"put {name}", work, "transfer").result()
    old = session.document.take(request.replaces) if request.replaces else None
    rate = float(result.clip.rate)
    entry = TakeEntry(old.id if old else new_id("t"), name, target.id, file, (len(rows) - 1) / rate, len(rows), rate)
    kept = [each for each in session.document.takes if each.id != entry.id]
    session.change(replace(session.document, takes=(*kept, entry)), f"put {name}")
    await session.show(target.id, "take", entry.id)
    return messages.TransferOutcome(entry.id, bone_matches(result), contact_spans(result), result.report.get("size"))


def carry_motion(
    actor: Asset,
    animation: Animation,
    target: LoadedCharacter,
    request: messages.Transfer,
    progress: Callable[[int], None],
) -> TransferResult:
    """The motion on the target: by bones where it has arms and legs, else by the pose pairs of a built-in character."""
    from understudy import cast
    from understudy.transfer.bone_map import bone_map
    from understudy.transfer.by_bones import performer_of, transfer_by_bones, with_bones
    from understudy.transfer.pairs import PosePairs
    from understudy.transfer.retargeter import Retargeter
    from understudy.transfer.source import source_of

    motion = source_of(actor, animation)
    progress(1)
    bones = bone_map(target.character, request.bones)
    member = cast.member_of_cast(target.character)
    if bones.missing and member:
        pairs = PosePairs.read(member, cast.load("actor"), target.asset)
        springs = None if request.springs else ()
        retargeter = Retargeter(target.character, physics=request.physics, springs=springs).fit(pairs)
        progress(2)
        return retargeter.transform(motion)
    motion = with_bones(motion)
    progress(2)
    options: dict[str, Any] = {"size": request.size, "physics": request.physics, "springs": request.springs}
    return transfer_by_bones(motion, performer_of(motion), bones, **options)


def bone_matches(result: TransferResult) -> tuple[messages.BoneMatch, ...]:
    """The bones of both bodies, those of the target first; none where the motion was carried over by pose pairs."""
    source, target = (result.report.get(each, {}).get("joints", {}) for each in ("source_bones", "bones"))
    nothing = {"joint": "", "by": "", "certainty": 0.0}
    return tuple(
        messages.BoneMatch(bone, source.get(bone, nothing)["joint"], row["joint"], row["by"], float(row["certainty"]))
        for bone in dict.fromkeys((*target, *source))
        for row in [target.get(bone, nothing)]
    )


def contact_spans(result: TransferResult) -> tuple[messages.ContactSpan, ...]:
    """When which part is in contact, in order of time; empty without physics."""
    phases, rate = result.phases, float(result.clip.rate)
    if phases is None:
        return ()
    spans = []
    for part, down in zip(phases.names, np.asarray(phases.down, bool).T):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], down, [False]]).astype(int)))
        spans += [messages.ContactSpan(part, a / rate, (b - 1) / rate) for a, b in zip(edges[::2], edges[1::2])]
    return tuple(sorted(spans, key=lambda span: (span.start, span.part)))
