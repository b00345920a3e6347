"""Frame-by-frame performance: commands in, one pose of the rig a frame out, with explicit state (init / step)."""
