"""Build the smaller members of the cast and write what the package ships: `python -m assets.members.build penguin`.

| word | writes | needs |
|---|---|---|
| `penguin`, `squirrel` | the body | the `sculpt` extra |
| `actor` | the body and the six clips | the `sculpt` extra |
| `actor-clips` | the six clips, beside the body that is there | nothing more |
| `lamp` | the body and its four clips | nothing more |
| `limits` | `cast/limits.json`, how far all joints turn | nothing more |

Nothing is random: the same libraries give the same files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from assets.members import actor, actor_motion, lamp, penguin, skeletons, squirrel
from understudy import cast
from understudy.cast import archive
from understudy.character import Asset

LIMITS = {
    "lamp": skeletons.LAMP_LIMITS,
    "penguin": skeletons.PENGUIN_LIMITS,
    "squirrel": skeletons.SQUIRREL_LIMITS,
    "actor": skeletons.ACTOR_LIMITS,
}
ASSETS = {
    "penguin": lambda: Asset([penguin.build()]),
    "squirrel": lambda: Asset([squirrel.build()]),
    "actor": lambda: Asset([actor.build()], clips=actor_motion.clips()),
    "lamp": lamp.lamp,
}


def main(word: str, path: Path | None = None) -> None:
    """Build what a word of the table names, and write it."""
    if word == "limits":
        (path or cast.FOLDER / "limits.json").write_text(limits_text(LIMITS), encoding="utf-8")
    elif word == "actor-clips":
        archive.write_animation(path or cast.arrays_file("actor"), clips=actor_motion.clips())
    elif word in ASSETS:
        archive.write(ASSETS[word](), path or cast.arrays_file(word))
    else:
        raise SystemExit(f"there is no {word!r} to build; available: {', '.join([*ASSETS, 'actor-clips', 'limits'])}")


def limits_text(limits: Mapping[str, cast.Limits]) -> str:
    """Limits as JSON, a line a joint."""
    members = []
    for name, joints in limits.items():
        lines = [f"    {json.dumps(joint)}: {json.dumps(axes)}" for joint, axes in joints.items()]
        members.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(members) + "\n}\n"


if __name__ == "__main__":
    for given in sys.argv[1:]:
        main(given)
