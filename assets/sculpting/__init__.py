"""Sculpting: what the bodies of the cast are made with, from distance fields to patches, coats and eyes."""
