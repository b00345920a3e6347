"""The lamp learnt from its four clips, then told what to do while it acts: as a program does it, a frame at a time."""

import understudy as us

model = us.PoseModel(rate=24).fit(us.load("lamp"))
us.save(model, "lamp.understudy")
for label, space in model.model_.spaces.items():
    print(f"{label}: {len(space)} frames of {len(space.segments)} clips")

performer = us.Performer(us.load("lamp.understudy"))  # with breath, feet, gaze and blinks, as far as the lamp has them
state, rows = performer.init("curious"), []
for command in (
    us.Idle(seconds=1),
    us.Transition("happy"),
    us.GoTo("happy@2.0"),
    us.Mix(("happy", "sad"), 0.5, seconds=2),
):
    state = performer.command(state, command)  # at any moment, whatever it is doing
    while not performer.is_done(state):
        state, row = performer.step(state)  # a row (C,) of the rig, every frame
        rows.append(row)
    print(f"{len(rows) / performer.rate:5.2f} s  {command.word} is done, in label {state.label}")

done = us.run_script(model, [us.Idle(seconds=1), us.PlayClip("hop", 3, 5)])  # or a script file, from end to end
print(us.show(done, "lamp.png", size=(160, 160)), f"{done.seconds:.1f} s")
