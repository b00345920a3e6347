"""Live out: bones and blend values to other programs, by OSC in the VMC convention."""

from understudy.live.vmc.stream import PORT, Packer, Stream

__all__ = ["PORT", "Packer", "Stream"]
