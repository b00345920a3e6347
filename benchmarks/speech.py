"""Speech: closure of the lips, how much of a smile stays, and times of phones, over twenty sentences.

    .venv/bin/python -m benchmarks.speech

The gap is that of the inner lips (landmarks 61 to 63 and 65 to 67) above the gap of the closed mouth, as a share of the
gap at jawOpen 1. At every p, b and m the least gap within the phone counts. The smile is the mean weight of mouthSmile
while something is said, over that of the same performance without speech. Times are starts of phones from text against
those that are aligned with the audio.
"""

from __future__ import annotations

import numpy as np

import understudy as us
from understudy import cast
from understudy.character.rig import rig_of
from understudy.checks import Array
from understudy.cli.express import open_graph
from understudy.express import speech_audio
from understudy.express.acting import ActSettings, act, clip_of
from understudy.express.acting.synthesis import cover_speech

SENTENCES = (
    "My mother bakes bread and butter pudding every morning.",
    "The big blue boat moved past my farm before five people could jump.",
    "Please bring five more apples from the market.",
    "Bob saw a brown bear by the bridge.",
    "I am so happy to see you today.",
    "Remember the map, or we may never come back.",
    "People often mumble when they feel embarrassed.",
    "Have you ever seen a purple lamp?",
    "Some men hope for more than they can possibly have.",
    "The baby clapped both hands and laughed.",
    "Every problem has a simple, plausible and wrong answer.",
    "He told us to open the window and breathe.",
    "Two old owls flew over the moon.",
    "Why would anybody jump from a moving bus?",
    "My boss promised me a better job in February.",
    "Stop pushing, there is room for everybody.",
    "We found thirty coins beneath the marble stairs.",
    "Pepper makes me sneeze, but I put up with it.",
    "Maybe tomorrow the summer will come back.",
    "Perhaps the best part of the film was the music.",
)
CLOSED = ("p", "b", "m")


def lip_gaps(rig: us.DirectRig, rows: Array) -> Array:  # type: ignore[name-defined]
    """(F,) metres of height between the inner lips, the mean of three pairs of landmarks; below 0 they overlap."""
    points = rig.points(rows, [int(cast.FACE_LANDMARKS[i]) for i in (61, 62, 63, 67, 66, 65)])
    gaps: Array = (points[:, :3, 1] - points[:, 3:, 1]).mean(axis=1)
    return gaps


def main() -> None:
    """Print the table."""
    face = cast.load("face").characters[0]
    rig, graph = rig_of(face), open_graph("face")
    jaw = rig.channels.names.index("Face.weights.jawOpen")
    rows = np.tile(rig.rest, (2, 1))
    rows[1, jaw] = 1.0
    closed, opened = lip_gaps(rig, rows)
    for label in ("neutral", "happiness", "surprise", "anger"):
        gaps: list[float] = []
        smiles: list[float] = []
        for number, text in enumerate(SENTENCES):
            speech = speech_audio.speak(text)
            settings = cover_speech(graph, [label], number, ActSettings(), speech.duration)
            take = act(graph, [label], seed=number, **settings._asdict())
            plain, spoken = (clip_of(take, face, sounds=s) for s in ((), speech.sounds))
            gap = (lip_gaps(rig, rig.pose(spoken)) - closed) / (opened - closed)
            for phone in speech.phones:
                if phone.symbol in CLOSED:
                    first = int(np.ceil(phone.start * take.rate - 1e-9))
                    last = max(int(phone.end * take.rate), first)
                    gaps.append(float(gap[first : last + 1].min()))
            during = slice(int(take.rate), int(speech.duration * take.rate))  # once the expression has come
            smile = [
                rig.pose(clip)[during, rig.channels.names.index("Face.weights.mouthSmileLeft")].mean()
                for clip in (plain, spoken)
            ]
            if label == "happiness":
                smiles.append(float(smile[1] / max(smile[0], 1e-9)))
        under = np.mean(np.array(gaps) < 0.05)
        print(f"{label}: {len(gaps)} closures, gap {np.median(gaps):.3f} median, {max(gaps):.3f} worst, {under:.1%} ok")
        if smiles:
            print(f"  smile kept: {np.mean(smiles):.2f} mean, {min(smiles):.2f} least")
    errors: list[float] = []
    for text in SENTENCES:
        spoken_text = speech_audio.speak(text)
        heard = speech_audio.align(spoken_text.samples, spoken_text.rate, text)
        errors += boundary_errors(spoken_text, heard)
    inside = np.mean(np.array(errors) <= 0.05)
    print(f"times: {len(errors)} phones, {np.median(errors) * 1e3:.0f} ms median, {inside:.1%} within 50 ms")
    print(f"  90th {np.percentile(errors, 90) * 1e3:.0f} ms, worst {max(errors) * 1e3:.0f} ms")


def boundary_errors(text: speech_audio.Speech, heard: speech_audio.Speech) -> list[float]:
    """Seconds between the starts of phones with the same viseme, in the order in which both say them."""
    from difflib import SequenceMatcher

    a, b = ([phone.visemes[0] for phone in speech.phones] for speech in (text, heard))
    errors = []
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            errors.append(abs(text.phones[block.a + i].start - heard.phones[block.b + i].start))
    return errors


if __name__ == "__main__":
    main()
