"""What a character may feel in a game, and when.

A mood is a set of scripts, `scripts/<mood>.toml`; which of them is played is drawn by chance [Bailey 2016, section 6].
"""

from __future__ import annotations

from typing import Literal

Mood = Literal[
    "greeting",
    "waiting",
    "impatient",
    "refusing",
    "threatened",
    "blocked",
    "cornered",
    "amused",
    "pondering",
    "placing",
    "surprised",
    "won",
    "lost",
    "draw",
    "again",
]

MOODS: dict[Mood, str] = {
    "greeting": "a game begins",
    "waiting": "the player's turn: it squints and scowls, as if that could frighten anybody",
    "impatient": "the player's turn has lasted long",
    "refusing": "the player wants a square that is taken: it shakes its head",
    "threatened": "the player has two in a line",
    "blocked": "the player has blocked its line",
    "cornered": "the player threatens two lines at once: it shakes its head",
    "amused": "the player could have won, and has not seen it",
    "pondering": "its own turn: it thinks, for longer than it needs",
    "placing": "it has moved",
    "surprised": "the player has won by a line that it had overlooked",
    "won": "it has won",
    "lost": "it has lost: it roars",
    "draw": "nobody has won",
    "again": "the game is over: would you like another?",
}
