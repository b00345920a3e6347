"""A contact sheet and a video. They are drawn with OpenGL where there is any, and with NumPy where there is none."""

from understudy import cast
from understudy.render import show

lamp = cast.load("lamp")
take = show.RenderTake.from_asset(lamp, "hop", rate=8)
small = show.ViewSettings(size=(240, 180))
print("hop.png:", show.contact_sheet(take, "hop.png", small, count=8))
print("hop.gif:", show.video(take, "hop.gif", small))
