"""Sculpting: what the bodies of the cast are made with, from distance fields to the file that is shipped."""
