"""Perform: fit pose spaces to a character's clips, then act live by commands [Bailey 2016].

`PerformanceModel` holds a latent pose space for each label and the bridges between them; `Performer` moves through them
frame by frame with explicit state. Modules are imported where they are used: the command line starts without NumPy.
"""
