"""Perform: fit pose spaces to a character's clips, then act live by commands [Bailey 2016].

`PoseModel` learns a latent pose space for each label and the bridges between them; `Performer` moves through them frame
by frame with explicit state. Modules are imported where they are used, so that the command line starts without NumPy.
"""
