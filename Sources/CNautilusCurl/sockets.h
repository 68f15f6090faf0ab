// The sockets of a loop, and what epoll watches of them.

#ifndef NAUTILUS_CURL_SOCKETS_H
#define NAUTILUS_CURL_SOCKETS_H

#if defined(__linux__)

#include <stdint.h>

enum socket_flag {
    // We have opened the socket and will be told when it is closed, so until then epoll may go on watching it.
    socket_owned = 1,
    // epoll watches the socket: for reading, for writing, at all.
    socket_watched_read = 2,
    socket_watched_write = 4,
    socket_watched = 8,
    // The library wants events of the socket.
    socket_wanted = 16,
    // The socket belongs to a kept connection that no transfer uses.
    socket_resting = 32,
    // The socket belongs to a connection whose bytes the library does not move.
    socket_lent = 64,
    // The socket is not connected yet.
    socket_connecting = 128,
};

struct sockets {
    int epoll;
    // Flags by descriptor.
    uint8_t *flags;
    // By descriptor, the handle that last wanted events of an open socket; stale for a resting socket.
    void **users;
    int capacity;
};

// The flags of a socket; 0 for an unknown socket.
uint8_t sockets_flags(const struct sockets *sockets, int socket);
// The handle that last wanted events of a socket that we have opened; null for none.
void *sockets_user(const struct sockets *sockets, int socket);
// Adds a socket that we have opened, and that is about to be connected; returns 0 if there is no memory.
int sockets_own(struct sockets *sockets, int socket);
// Watches a socket for the events that the library wants (bits: 1 to read, 2 to write); returns 0 if the system
// refuses.
int sockets_want(struct sockets *sockets, int socket, int interest);
// Notes that a socket is connected.
void sockets_connected(struct sockets *sockets, int socket);
// Notes that the library wants no more events of a socket for now.
void sockets_unwant(struct sockets *sockets, int socket);
// Watches a connection whose bytes the library does not move (bits as above, or 0 for no events); returns 0 if the
// system refuses.
int sockets_lend(struct sockets *sockets, int socket, int interest);
// Notes that no transfer uses the connection, so that anything that arrives ends it.
void sockets_rest(struct sockets *sockets, int socket);
// Stops watching a socket.
void sockets_unwatch(struct sockets *sockets, int socket);
// Ends a resting connection on which bytes or the end have arrived, so that the library takes it for dead, too.
void sockets_end(struct sockets *sockets, int socket);
// Ends all resting connections.
void sockets_end_resting(struct sockets *sockets);
// Forgets and closes a socket.
int sockets_close(struct sockets *sockets, int socket);

#endif
#endif
