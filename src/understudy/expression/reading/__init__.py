"""Reading recordings of faces: trackers' tables, archives, animation files, and manifests that say what is what."""

from understudy.expression.reading.manifest import Manifest
from understudy.expression.reading.manifest import read as read_manifest
from understudy.expression.reading.opening import read as read_recording
from understudy.expression.reading.recording import Recording

__all__ = ["Manifest", "Recording", "read_manifest", "read_recording"]
