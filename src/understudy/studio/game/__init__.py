"""The play mode: tic-tac-toe against a character, with rules, an opponent, a director, and scripts for its moods."""
