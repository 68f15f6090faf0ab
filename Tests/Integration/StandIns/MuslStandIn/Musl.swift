// The C library of static programs on Linux, which has a module of its own.

@_exported import Glibc
