"""Transfer: a motion onto a character of other proportions or another topology, from a handful of pose pairs."""
