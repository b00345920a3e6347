"""Pictures and videos of animated characters, with or without OpenGL, from plain arrays."""

from understudy.render.camera import Camera, frame_camera, frame_clip
from understudy.render.figure import bones, stick_figure
from understudy.render.finish import Finish
from understudy.render.picture import contact_sheet, write_png
from understudy.render.renderer import Renderer, open_renderer
from understudy.render.scene import Dots, Lines, Stage, Surface, srgb, stage_of
from understudy.render.video import VideoWriter, open_video

__all__ = [
    "Camera",
    "Dots",
    "Finish",
    "Lines",
    "Renderer",
    "Stage",
    "Surface",
    "VideoWriter",
    "bones",
    "contact_sheet",
    "frame_camera",
    "frame_clip",
    "open_renderer",
    "open_video",
    "srgb",
    "stage_of",
    "stick_figure",
    "write_png",
]
