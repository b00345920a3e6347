"""The shell of the studio: files, stage, transport, names, undo, export."""
