"""The lamp learned from its four clips, then told what to do while it acts: as a program does it, a frame at a time."""

from understudy import cast
from understudy.perform.commands import GoTo, Idle, Mix, PlayClip, Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PoseModel
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import fit_library
from understudy.render import show

library = ClipLibrary.from_asset(cast.load("lamp"), rate=24)
print(library)
fit_library(library, cast="lamp").save("lamp.understudy")
model = PoseModel.load("lamp.understudy")
for label, space in model.spaces.items():
    ways = sum(len(bridges) for bridges in model.bridges if label in (bridges.first, bridges.second))
    print(f"{label}: {len(space)} frames, {ways} bridges to other labels")

performer = Performer(model, library.rig)
state, rows = performer.init("curious"), []
orders = [
    Idle(seconds=1),
    Transition("happy"),
    GoTo("happy@2.0"),
    Mix(("happy", "sad"), 0.5, seconds=2),
    PlayClip("hop", 3, 5),
]
for order in orders:
    state = performer.command(state, order)  # at any moment, whatever it is doing
    while not performer.is_done(state):
        state, row = performer.step(state)  # a row (C,) of the rig, every frame
        rows.append(row)
    print(f"{len(rows) / performer.rate:5.2f} s  {order.word} is done, in label {state.label}")

take = show.RenderTake.from_rows(library.rig, rows, rate=performer.rate)
print("lamp.png:", show.contact_sheet(take, "lamp.png", show.ViewSettings(size=(160, 160)), 12))
