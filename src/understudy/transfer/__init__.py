"""Transfer: a motion and a handful of pose pairs to an animation of another body [Yamane 2010]."""
