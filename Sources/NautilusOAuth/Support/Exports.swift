/// An OAuth session is a session of `NautilusSessions`, with its stores and errors, so one import brings all of them.
@_exported import NautilusSessions
