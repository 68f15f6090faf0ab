#if defined(__linux__)

#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

uint8_t sockets_flags(const struct sockets *sockets, int socket) {
    return socket >= 0 && socket < sockets->capacity ? sockets->flags[socket] : 0;
}

void *sockets_user(const struct sockets *sockets, int socket) {
    return sockets_flags(sockets, socket) & socket_owned ? sockets->users[socket] : NULL;
}

static int make_room(struct sockets *sockets, int socket) {
    if (socket < 0) return 0;
    if (socket < sockets->capacity) return 1;
    int capacity = sockets->capacity ? sockets->capacity : 64;
    while (capacity <= socket) capacity *= 2;
    uint8_t *flags = realloc(sockets->flags, (size_t)capacity);
    if (!flags) return 0;
    memset(flags + sockets->capacity, 0, (size_t)(capacity - sockets->capacity));
    sockets->flags = flags;
    void **users = realloc(sockets->users, (size_t)capacity * sizeof *users);
    if (!users) return 0;
    memset(users + sockets->capacity, 0, (size_t)(capacity - sockets->capacity) * sizeof *users);
    sockets->users = users;
    sockets->capacity = capacity;
    return 1;
}

int sockets_own(struct sockets *sockets, int socket) {
    if (!make_room(sockets, socket)) return 0;
    uint8_t before = sockets->flags[socket];
    sockets->flags[socket] = socket_owned | socket_connecting;
    if (!(before & socket_wanted)) sockets->users[socket] = NULL;
    // The library has closed an earlier socket with this descriptor without telling us, and will not ask again for what
    // it wanted of that one.
    if (before & socket_wanted)
        return sockets_want(sockets, socket, (before & socket_watched_read ? 1 : 0) | (before & socket_watched_write ? 2 : 0));
    return 1;
}

// Has epoll watch a socket. Only if the caller `knows` is it certain that the flags agree with epoll's state, since the
// library closes some sockets without telling us.
static int watch(struct sockets *sockets, int socket, int interest, int knows) {
    uint8_t *flags = &sockets->flags[socket];
    uint8_t wanted = socket_watched;
    if (interest & 1) wanted |= socket_watched_read;
    if (interest & 2) wanted |= socket_watched_write;
    const uint8_t watched = socket_watched | socket_watched_read | socket_watched_write;
    if (knows && (*flags & watched) == wanted) return 1;
    struct epoll_event event = {.events = 0, .data = {.fd = socket}};
    if (interest & 1) event.events |= EPOLLIN;
    if (interest & 2) event.events |= EPOLLOUT;
    int first = *flags & socket_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int second = first == EPOLL_CTL_MOD ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(sockets->epoll, first, socket, &event) != 0
        && ((errno != ENOENT && errno != EEXIST) || epoll_ctl(sockets->epoll, second, socket, &event) != 0))
        return 0;
    *flags = (uint8_t)((*flags & ~watched) | wanted);
    return 1;
}

int sockets_want(struct sockets *sockets, int socket, int interest) {
    if (!make_room(sockets, socket)) return 0;
    int knows = sockets->flags[socket] & (socket_wanted | socket_resting);
    if (!watch(sockets, socket, interest, knows)) return 0;
    sockets->flags[socket] = (uint8_t)((sockets->flags[socket] & ~socket_resting) | socket_wanted);
    return 1;
}

void sockets_connected(struct sockets *sockets, int socket) {
    if (sockets_flags(sockets, socket) & socket_connecting) sockets->flags[socket] &= (uint8_t)~socket_connecting;
}

void sockets_unwant(struct sockets *sockets, int socket) {
    if (sockets_flags(sockets, socket) == 0) return;
    sockets->flags[socket] &= (uint8_t)~socket_wanted;
    // Sockets that we have opened stay watched: the next transfer usually wants the same again, which saves two system
    // calls.
    if (!(sockets->flags[socket] & socket_owned)) sockets_unwatch(sockets, socket);
}

int sockets_lend(struct sockets *sockets, int socket, int interest) {
    if (!make_room(sockets, socket)) return 0;
    int knows = sockets->flags[socket] & socket_lent;
    // With no interest, epoll would still report the end of a connection, again and again.
    if (interest == 0) sockets_unwatch(sockets, socket);
    else if (!watch(sockets, socket, interest, knows)) return 0;
    sockets->flags[socket] |= socket_lent;
    sockets_connected(sockets, socket);
    return 1;
}

void sockets_rest(struct sockets *sockets, int socket) {
    if (sockets_flags(sockets, socket) & socket_lent) sockets->flags[socket] &= (uint8_t)~socket_lent;
    uint8_t flags = sockets_flags(sockets, socket);
    // A socket that is still wanted does not rest: the library may be closing its connection step by step.
    if (!(flags & socket_owned) || flags & socket_wanted) return;
    // The flags agree with epoll, since the socket is still open with this descriptor.
    if (watch(sockets, socket, 1, 1)) sockets->flags[socket] |= socket_resting;
}

void sockets_unwatch(struct sockets *sockets, int socket) {
    if (!(sockets_flags(sockets, socket) & socket_watched)) return;
    epoll_ctl(sockets->epoll, EPOLL_CTL_DEL, socket, NULL);
    sockets->flags[socket] &= (uint8_t)~(socket_watched | socket_watched_read | socket_watched_write);
}

static void end(struct sockets *sockets, int socket) {
    shutdown(socket, SHUT_RDWR);
    sockets_unwatch(sockets, socket);
    sockets->flags[socket] &= (uint8_t)~socket_resting;
}

void sockets_end_resting(struct sockets *sockets) {
    for (int socket = 0; socket < sockets->capacity; socket++)
        if (sockets->flags[socket] & socket_resting) end(sockets, socket);
}

void sockets_end(struct sockets *sockets, int socket) {
    // Before the library uses a connection again, it only checks the socket. An unread byte, such as TLS's closing
    // message, makes the connection look alive, and the transfer would then wait for ever.
    char scratch[4096];
    for (int reads = 0; reads < 64; reads++) {
        ssize_t count = recv(socket, scratch, sizeof scratch, MSG_DONTWAIT);
        // The event belonged to an answer that another thread has read before, and nothing has arrived since.
        if (reads == 0 && count < 0 && errno == EAGAIN) return;
        if (count <= 0) break;
    }
    end(sockets, socket);
}

int sockets_close(struct sockets *sockets, int socket) {
    // Closing would be enough if no child process had inherited the socket.
    sockets_unwatch(sockets, socket);
    if (socket >= 0 && socket < sockets->capacity) {
        sockets->flags[socket] = 0;
        sockets->users[socket] = NULL;
    }
    return close(socket);
}

#endif
