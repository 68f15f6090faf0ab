// The sockets of a loop, and which of them epoll watches.

#ifndef NAUTILUS_CURL_SOCKETS_H
#define NAUTILUS_CURL_SOCKETS_H

#if defined(__linux__)

#include <stdint.h>

enum socket_flag {
    // Opened by us, so that we hear when it is closed: what epoll watches of it may be left as it is meanwhile.
    socket_owned = 1,
    // epoll watches for it to be read, or to be written.
    socket_watched_read = 2,
    socket_watched_write = 4,
    socket_watched = 8,
    // The library wants to hear of it.
    socket_wanted = 16,
    // Of a kept connection that no transfer uses.
    socket_resting = 32,
    // Of a connection whose bytes are not the library's to move.
    socket_lent = 64,
};

struct sockets {
    int epoll;
    // Flags by descriptor.
    uint8_t *flags;
    // By descriptor, the handle that last wanted something of it, as long as it is open; stale for a resting one.
    void **users;
    int capacity;
};

// The flags of a socket; 0 for an unknown one.
uint8_t sockets_flags(const struct sockets *sockets, int socket);
// The handle that last wanted something of a socket that we have opened; null for none.
void *sockets_user(const struct sockets *sockets, int socket);
// Takes a socket in that we have opened; 0 where there is no memory.
int sockets_own(struct sockets *sockets, int socket);
// Watches a socket for what the library wants of it (bits: 1 to read, 2 to write); 0 where the system refuses.
int sockets_want(struct sockets *sockets, int socket, int interest);
// The library wants nothing of it any more, for now.
void sockets_unwant(struct sockets *sockets, int socket);
// Watches a connection whose bytes are moved from outside (bits as above, 0 for not at all); 0 where the system refuses.
int sockets_lend(struct sockets *sockets, int socket, int interest);
// No transfer uses the connection: whatever comes now is its end.
void sockets_rest(struct sockets *sockets, int socket);
// Stops watching.
void sockets_unwatch(struct sockets *sockets, int socket);
// Ends a resting connection on which something has come, or its end, so that the library takes it for dead as well.
void sockets_end(struct sockets *sockets, int socket);
// Forgets and closes a socket.
int sockets_close(struct sockets *sockets, int socket);

#endif
#endif
