"""The lamp learned from its four clips, then told what to do while it acts: as a program does it, a frame at a time."""

from understudy import cast
from understudy.live.commands import Idle, Mix, Move, Play, Transition
from understudy.live.performer import Performer
from understudy.posespace import Model
from understudy.posespace.learning import learn
from understudy.posespace.library import Library
from understudy.render import show

library = Library.of(cast.load("lamp"), rate=24)
print(library)
learn(library, cast="lamp").save("lamp.understudy")
model = Model.load("lamp.understudy")
for label, space in model.spaces.items():
    ways = sum(len(bridges) for bridges in model.bridges if label in (bridges.first, bridges.second))
    print(f"{label}: {len(space)} frames, {ways} bridges to other labels")

performer = Performer(model, library.rig)
state, rows = performer.init("curious"), []
orders = [
    Idle(seconds=1),
    Transition("happy"),
    Move("happy@2.0"),
    Mix(("happy", "sad"), 0.5, seconds=2),
    Play("hop", 3, 5),
]
for order in orders:
    state = performer.tell(state, order)  # at any moment, whatever it is doing
    while not performer.done(state):
        state, row = performer.step(state)  # a row (C,) of the rig, every frame
        rows.append(row)
    print(f"{len(rows) / performer.rate:5.2f} s  {order.word} is done, in label {state.label}")

take = show.Take.of_rows(library.rig, rows, rate=performer.rate)
print("lamp.png:", show.contact_sheet(take, "lamp.png", show.View(size=(160, 160)), 12))
