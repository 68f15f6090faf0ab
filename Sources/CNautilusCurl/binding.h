// The library's functions, as they are bound.

#ifndef NAUTILUS_CURL_BINDING_H
#define NAUTILUS_CURL_BINDING_H

#include "CNautilusCurl.h"

#if defined(__linux__)

#include <sys/socket.h>

typedef void curl_multi;

struct curl_message {
    int kind;
    nautilus_easy *easy;
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

// The beginning, which has stayed the same since 2004.
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
    nautilus_easy *(*easy_init)(void);
    void (*easy_cleanup)(nautilus_easy *);
    void (*easy_reset)(nautilus_easy *);
    int (*easy_setopt)(nautilus_easy *, int option, ...);
    int (*easy_getinfo)(nautilus_easy *, int info, ...);
    int (*easy_pause)(nautilus_easy *, int bits);
    int (*easy_send)(nautilus_easy *, const void *bytes, size_t count, size_t *sent);
    int (*easy_recv)(nautilus_easy *, void *bytes, size_t count, size_t *received);
    curl_multi *(*multi_init)(void);
    int (*multi_cleanup)(curl_multi *);
    int (*multi_setopt)(curl_multi *, int option, ...);
    int (*multi_add_handle)(curl_multi *, nautilus_easy *);
    int (*multi_remove_handle)(curl_multi *, nautilus_easy *);
    int (*multi_socket_action)(curl_multi *, int socket, int events, int *running);
    int (*multi_timeout)(curl_multi *, long *milliseconds);
    struct curl_message *(*multi_info_read)(curl_multi *, int *left);
};

extern struct curl_functions nautilus_curl;
// Written before any transfer is made.
extern struct nautilus_easy_functions nautilus_functions;

#endif
#endif
