#include "loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
    int socket;
    const void *response;
    size_t size;
    unsigned delay;
} connection;

int loopback_server_listen(uint16_t *port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (listener < 0) return -1;
    if (bind(listener, (struct sockaddr *)&address, length) != 0) return -1;
    if (listen(listener, 128) != 0) return -1;
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) return -1;
    *port = ntohs(address.sin_port);
    return listener;
}

static int write_all(int socket, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(socket, bytes, size);
        if (written <= 0) return -1;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

static void *serve_connection(void *argument) {
    connection open = *(connection *)argument;
    free(argument);
    static const char end[] = "\r\n\r\n";
    size_t matched = 0;
    char buffer[4096];
    ssize_t count;
    while ((count = read(open.socket, buffer, sizeof buffer)) > 0) {
        for (ssize_t index = 0; index < count; index++) {
            matched = buffer[index] == end[matched] ? matched + 1 : buffer[index] == '\r';
            if (matched < 4) continue;
            matched = 0;
            if (open.delay > 0) usleep(open.delay * 1000);
            if (write_all(open.socket, open.response, open.size) != 0) break;
        }
    }
    close(open.socket);
    return NULL;
}

void loopback_server_serve(int listener, const void *response, size_t size, unsigned delay) {
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int socket = accept(listener, NULL, NULL);
        if (socket < 0) continue;
        int on = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connection *open = malloc(sizeof *open);
        pthread_t thread;
        if (open == NULL) abort();
        *open = (connection){.socket = socket, .response = response, .size = size, .delay = delay};
        if (pthread_create(&thread, NULL, serve_connection, open) != 0) abort();
        pthread_detach(thread);
    }
}
