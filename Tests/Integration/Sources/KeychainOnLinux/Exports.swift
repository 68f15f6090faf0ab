// The store beside this file is part of that module on Apple's platforms, and so needs no import of it.
@_exported import NautilusSessions
