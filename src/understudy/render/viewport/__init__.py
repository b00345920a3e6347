"""What the page draws: a character described once, and its frames packed for the wire."""
