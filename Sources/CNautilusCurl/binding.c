// Finds the library in the process, or on the system.

#if defined(__linux__)

#define _GNU_SOURCE
#include "binding.h"
#include "gate.h"

#include <dlfcn.h>
#include <pthread.h>

struct curl_functions nautilus_curl;
struct nautilus_easy_functions nautilus_functions;

static pthread_once_t bound = PTHREAD_ONCE_INIT;
static enum nautilus_curl_binding binding = NAUTILUS_CURL_NO_LIBRARY;
static struct nautilus_curl_version bound_version = {0, 0, "", 0};

static void *open_library(void) {
    // Foundation's networking has usually loaded it; a second copy, with a TLS library of its own, must not be loaded
    // as well.
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD);
    return library ? library : dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
}

static void bind_all(void) {
    void *library = open_library();
    if (!library) return;
    const struct {
        void *target;
        const char *name;
    } symbols[] = {
        {&nautilus_curl.global_init, "curl_global_init"},
        {&nautilus_curl.version_info, "curl_version_info"},
        {&nautilus_curl.easy_init, "curl_easy_init"},
        {&nautilus_curl.easy_cleanup, "curl_easy_cleanup"},
        {&nautilus_curl.easy_reset, "curl_easy_reset"},
        {&nautilus_curl.easy_setopt, "curl_easy_setopt"},
        {&nautilus_curl.easy_getinfo, "curl_easy_getinfo"},
        {&nautilus_curl.easy_pause, "curl_easy_pause"},
        {&nautilus_curl.easy_send, "curl_easy_send"},
        {&nautilus_curl.easy_recv, "curl_easy_recv"},
        {&nautilus_curl.multi_init, "curl_multi_init"},
        {&nautilus_curl.multi_cleanup, "curl_multi_cleanup"},
        {&nautilus_curl.multi_setopt, "curl_multi_setopt"},
        {&nautilus_curl.multi_add_handle, "curl_multi_add_handle"},
        {&nautilus_curl.multi_remove_handle, "curl_multi_remove_handle"},
        {&nautilus_curl.multi_socket_action, "curl_multi_socket_action"},
        {&nautilus_curl.multi_timeout, "curl_multi_timeout"},
        {&nautilus_curl.multi_info_read, "curl_multi_info_read"},
    };
    binding = NAUTILUS_CURL_NO_SYMBOL;
    for (size_t index = 0; index < sizeof symbols / sizeof *symbols; index++) {
        void *symbol = dlsym(library, symbols[index].name);
        if (!symbol) return;
        // POSIX guarantees that a pointer to data can hold a function (dlsym).
        *(void **)symbols[index].target = symbol;
    }
    *(void **)&nautilus_curl.multi_socket_all = dlsym(library, "curl_multi_socket_all");
    // The libraries that libcurl itself uses are found by it as well.
    *(void **)&nautilus_curl.openssl_pending = dlsym(library, "SSL_pending");
    *(void **)&nautilus_curl.gnutls_pending = dlsym(library, "gnutls_record_check_pending");
    struct curl_version_data *data = nautilus_curl.version_info(0);
    if (!data) return;
    bound_version.number = data->version_number;
    bound_version.features = (uint32_t)data->features;
    bound_version.text = data->version ? data->version : "";
    bound_version.tls = data->tls_version;
    binding = NAUTILUS_CURL_BOUND;
}

enum nautilus_curl_binding nautilus_curl_bind(struct nautilus_curl_version *version) {
    pthread_once(&bound, bind_all);
    *version = bound_version;
    return binding;
}

enum nautilus_curl_binding nautilus_curl_initialize(struct nautilus_easy_functions functions) {
    nautilus_functions = functions;
    const long everything = 3;
    if (nautilus_curl.global_init(everything) != 0) return NAUTILUS_CURL_NO_INITIALIZATION;
    gate_install();
    return NAUTILUS_CURL_BOUND;
}

#endif
