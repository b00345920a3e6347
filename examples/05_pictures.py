"""A picture, a contact sheet and a film. They are drawn with OpenGL where there is any, and with NumPy otherwise."""

import understudy as us

lamp = us.load("lamp")
print(us.show(lamp, "hop_at_1.png", "hop", time=1.0, size=(240, 180)))
print(us.show(lamp, "hop.png", "hop", pictures=8, size=(240, 180)))
print(us.show(lamp, "hop.gif", "hop", rate=8, size=(240, 180)))
