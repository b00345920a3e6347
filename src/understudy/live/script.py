"""Scripts: what a character does and when, as a text that a person writes [Bailey 2016, sections 5.3 and 6].

    rate = 24                       # frames a second
    label = "neutral"               # where it begins

    [[do]]
    command = "transition"          # move, idle, transition, play, mix, look
    label = "happy"
    seconds = 1.0

    [[do]]
    command = "idle"
    pose = "happy_laugh@1.25"       # a moment of a clip, or the name of a pose
    at = 3.0                        # interrupts what runs then; without, it follows when the one before it ends
    seconds = 2.0
    liveliness = 1.2

    [[do]]
    command = "one_of"              # a list out of a set, drawn by chance
    set = "goodbye"

    [[set.goodbye]]
    do = [{command = "play", clip = "shake_gentle"}]

    [[set.goodbye]]
    do = [{command = "transition", label = "bored"}, {command = "idle", seconds = 2}]

`parse` reads it, `Script.check` holds it against a model, `run` performs it.
"""

from understudy.live.script_parser import parse
from understudy.live.script_run import Beat, Frame, Performance, frames, run
from understudy.live.script_steps import OneOf, Script, Step, Variant

__all__ = ["Beat", "Frame", "OneOf", "Performance", "Script", "Step", "Variant", "frames", "parse", "run"]
