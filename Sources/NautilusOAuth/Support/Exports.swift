/// A session of OAuth is one of `NautilusSessions`, and so are its stores and errors: one import brings all of it.
@_exported import NautilusSessions
