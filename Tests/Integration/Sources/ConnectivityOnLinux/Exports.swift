// What the file beside this one is part of on Apple's platforms, and so needs no import of.
@_exported import Nautilus
