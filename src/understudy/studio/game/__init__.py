"""Tic-tac-toe against a character that minds: rules, an opponent, a director, and the scripts that it draws from."""
