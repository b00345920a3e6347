"""Checks that animators run on dope sheets."""
