@_exported import NautilusHTTP
