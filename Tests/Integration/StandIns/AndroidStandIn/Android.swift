// Android's C library, which has a module of its own.

@_exported import Glibc
