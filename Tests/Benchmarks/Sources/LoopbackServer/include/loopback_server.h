#ifndef LOOPBACK_SERVER_H
#define LOOPBACK_SERVER_H

#include <stddef.h>
#include <stdint.h>

/// Listens on a free port of 127.0.0.1.
///
/// Returns the socket, or -1; the port is written to `port`.
int loopback_server_listen(uint16_t *port);

/// Answers every request, until the process ends, with the same bytes; one thread per connection, which is kept alive.
///
/// Requests have no body: the end of the header is the end of the request. The server does as little as it can, since
/// it shares the machine with the client under measurement.
///
/// Each answer is held back for so many milliseconds.
void loopback_server_serve(int listener, const void *response, size_t size, unsigned delay);

#endif
