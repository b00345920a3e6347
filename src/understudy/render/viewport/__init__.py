"""What the page draws: the description of a character, and its frames as binary payloads."""
