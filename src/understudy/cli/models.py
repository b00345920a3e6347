"""Opening a model together with the character that performs it.

A model holds its character: the name of a member of the built-in cast, or a whole GLB. So a performance needs nothing
but the model.
"""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import BadFile, FileError, InvalidInput

if TYPE_CHECKING:
    from understudy.character import Character
    from understudy.live.performer import Performer
    from understudy.posespace import Model
    from understudy.rig import PosedRig

ENDING = ".understudy"


@dataclass(frozen=True)
class Opened:
    """A model, the rig of its character, and the file that both came from."""

    path: str
    model: Model
    rig: PosedRig

    @property
    def character(self) -> Character:
        """Who performs."""
        return self.rig.character

    def performer(self, rate: float) -> Performer:
        """Ready to perform, with every layer (feet, eyes, blinks, breath) that the character has."""
        from understudy.live.layers import layers_of
        from understudy.live.performer import Performer

        return Performer(self.model, self.rig, rate, layers=layers_of(self.rig, model=self.model))


def is_model(path: str | Path) -> bool:
    """Whether a name is that of a model file."""
    return Path(path).suffix.lower() == ENDING


def open_model(path: str | Path) -> Opened:
    """The model of a file with its character; one that does not fit the other is refused."""
    from understudy import rig
    from understudy.posespace.model import Model, check_character

    if not is_model(path):
        raise BadFile(path, f"is not a model: a file that `understudy learn` has made ends in {ENDING}")
    model = Model.load(path)
    try:
        found = rig.of(_character(model))
        check_character(model, found.channels, found.character.name)
    except FileError as error:  # the embedded file has no name that anybody knows
        raise BadFile(path, f"its character cannot be used: {error.reason}") from error
    except InvalidInput as error:
        raise BadFile(path, str(error)) from error
    return Opened(str(path), model, found)


def _character(model: Model) -> Character:
    from understudy import cast, formats

    if model.cast:
        return cast.load(model.cast).character()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "character.glb")
        place.write_bytes(model.embedded)
        return formats.read(place).character()


def embedded(character: Character) -> bytes:
    """A character as the bytes of a GLB, for a model to hold."""
    from understudy import formats
    from understudy.character import Asset

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "character.glb")
        formats.write(Asset([character]), place)
        return place.read_bytes()


def facts(model: Model) -> dict[str, Any]:
    """The facts of a model, ready for JSON."""
    rows = []
    for label, space in model.spaces.items():
        own = [pair for pair in model.bridges if label in (pair.first, pair.second)]
        rows.append(
            {
                "label": label,
                "clips": [segment.clip for segment in space.segments],
                "frames": len(space),
                "seconds": round(len(space) / space.rate, 3),
                "dimensions": int(space.mapping.outputs),
                "bridges": sum(len(pair) for pair in own if not pair.wide),
                "nearest_gap": round(min((float(pair.gaps.min()) for pair in own), default=0.0), 6),
            }
        )
    return {
        "labels": rows,
        "rate": model.rate,
        "latent_dimensions": int(next(iter(model.spaces.values())).mapping.dimensions),
        "features": len(model.encoder.names),
        "poses": list(model.poses),
        "routes": _routes(model),
        "notes": list(model.notes),
    }


def table(row: dict[str, Any]) -> list[str]:
    """The lines of a model's table: its labels, then what can be reached from where."""
    width = max([5, *(len(each["label"]) for each in row["labels"])])
    lines = [f"  {'label':<{width}}  frames  clips  seconds  dims  bridges"]
    for each in row["labels"]:
        lines.append(
            f"  {each['label']:<{width}}  {each['frames']:6d}  {len(each['clips']):5d}  {each['seconds']:7.1f}"
            f"  {each['dimensions']:4d}  {each['bridges']:7d}"
        )
    found = row["routes"]
    if len(row["labels"]) > 1:
        direct, over, wide = found["direct"], found["over_others"], len(found["wide"])
        lines.append(f"  ways between labels: {direct} direct, {over} over other labels, {wide} without a near pose")
    if found["wide"]:
        pairs = ", ".join(f"{a}-{b}" for a, b in found["wide"][:6])
        more = f" and {wide - 6} more" if wide > 6 else ""
        lines.append(f"  without a near pose, so that the change is seen: {pairs}{more}")
    return lines


def _routes(model: Model) -> dict[str, Any]:
    """How many pairs of labels have a bridge of their own, how many go over others, and which have to leap."""
    routes = {(a, b): model.route(a, b) for a, b in itertools.combinations(model.labels, 2)}
    wide = [list(pair) for pair, route in routes.items() if any(bridges.wide for bridges in route)]
    direct = sum(len(route) == 1 and not route[0].wide for route in routes.values())
    return {"direct": direct, "over_others": len(routes) - direct - len(wide), "wide": wide}
