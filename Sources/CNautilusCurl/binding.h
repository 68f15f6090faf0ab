// The library's functions, once they are bound.

#ifndef NAUTILUS_CURL_BINDING_H
#define NAUTILUS_CURL_BINDING_H

#include "CNautilusCurl.h"

#if defined(__linux__)

#include <sys/socket.h>

typedef void curl_easy;
typedef void curl_multi;

struct curl_message {
    int kind;
    curl_easy *easy;
    union {
        void *pointer;
        int result;
    } data;
};

struct curl_address {
    int family;
    int type;
    int protocol;
    unsigned int length;
    struct sockaddr address;
};

// The beginning of libcurl's structure, which has stayed the same since 2004.
struct curl_version_data {
    int age;
    const char *version;
    unsigned int version_number;
    const char *host;
    int features;
    const char *tls_version;
};

struct curl_functions {
    int (*global_init)(long flags);
    struct curl_version_data *(*version_info)(int age);
    curl_easy *(*easy_init)(void);
    void (*easy_cleanup)(curl_easy *);
    void (*easy_reset)(curl_easy *);
    int (*easy_setopt)(curl_easy *, int option, ...);
    int (*easy_getinfo)(curl_easy *, int info, ...);
    int (*easy_pause)(curl_easy *, int bits);
    int (*easy_send)(curl_easy *, const void *bytes, size_t count, size_t *sent);
    int (*easy_recv)(curl_easy *, void *bytes, size_t count, size_t *received);
    curl_multi *(*multi_init)(void);
    int (*multi_cleanup)(curl_multi *);
    int (*multi_setopt)(curl_multi *, int option, ...);
    int (*multi_add_handle)(curl_multi *, curl_easy *);
    int (*multi_remove_handle)(curl_multi *, curl_easy *);
    int (*multi_socket_action)(curl_multi *, int socket, int events, int *running);
    // Deprecated, and null in a version that has dropped it.
    int (*multi_socket_all)(curl_multi *, int *running);
    int (*multi_timeout)(curl_multi *, long *milliseconds);
    struct curl_message *(*multi_info_read)(curl_multi *, int *left);
    // How much the TLS library has decrypted that nobody has read; null for the library that is not in use.
    int (*openssl_pending)(const void *session);
    size_t (*gnutls_pending)(void *session);
};

// Bytes that are collected, in memory that is reused.
struct bytes {
    char *bytes;
    size_t count, capacity;
};

// As libcurl lays it out (`struct curl_slist`).
struct line {
    char *text;
    struct line *next;
};

struct nautilus_easy {
    curl_easy *curl;
    // The transfer's context, passed to the functions.
    void *context;
    // The loop whose sockets the handle uses; null before it has a loop.
    struct nautilus_loop *loop;
    // The socket for which the handle last wanted events; -1 for none.
    int socket;
    // Whether the response's header is complete, so that further lines are trailers.
    int has_head;
    // The part of the header that has arrived, and the number of bytes above which it is too large.
    struct bytes head;
    size_t head_limit;
    // The lines of the request, each ending with a zero, and their list.
    struct bytes lines;
    size_t line_count;
    struct line *nodes;
    size_t node_capacity;
    int lacks_memory;
    // Whether the connection ends with the transfer, as far as that is known.
    int ends_connection;
};

extern struct curl_functions nautilus_curl;
// Set before any transfer is made.
extern struct nautilus_easy_functions nautilus_functions;

// Notes that the handle's connection is made.
void loop_connected(nautilus_easy *easy);

#endif
#endif
