"""Pictures and videos of animated characters, with or without OpenGL, from plain arrays."""

from __future__ import annotations

from understudy.render.camera import Camera, frame_camera, frame_clip
from understudy.render.picture import contact_sheet, write_png
from understudy.render.renderer import Renderer, open_renderer
from understudy.render.scene import Dots, Floor, Lines, Surface, SurfaceFinish, floor_of, linear_from_srgb
from understudy.render.stick_figure import bone_mesh, stick_figure_surface
from understudy.render.video import VideoWriter, open_video

__all__ = [
    "Camera",
    "Dots",
    "Floor",
    "Lines",
    "Renderer",
    "Surface",
    "SurfaceFinish",
    "VideoWriter",
    "bone_mesh",
    "contact_sheet",
    "floor_of",
    "frame_camera",
    "frame_clip",
    "linear_from_srgb",
    "open_renderer",
    "open_video",
    "stick_figure_surface",
    "write_png",
]
