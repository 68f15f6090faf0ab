// The publishers beside this file are part of that module on Apple's platforms, and so need no import of it.
@_exported import Nautilus
