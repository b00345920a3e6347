"""The perform mode: a trained model on stage, which takes commands while it acts."""
