"""Face capture: landmarks of a video or a camera to the weights of a character's shapes."""

from understudy.expression.capture.camera import Camera
from understudy.expression.capture.detector import Detector, available
from understudy.expression.capture.solving import Solution, solved
from understudy.expression.capture.tracking import capture, tracked

__all__ = ["Camera", "Detector", "Solution", "available", "capture", "solved", "tracked"]
