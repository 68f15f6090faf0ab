// One transfer's handle: options by the type of their argument, and the functions that the library calls.

#if defined(__linux__)

#include "binding.h"

#include <stdlib.h>
#include <string.h>

struct curl_blob {
    void *data;
    size_t length;
    unsigned int flags;
};

enum {
    option_seek_function = 20167,
    option_prerequest_function = 20312,
};

nautilus_easy *nautilus_easy_create(void) { return nautilus_curl.easy_init(); }
void nautilus_easy_destroy(nautilus_easy *easy) { nautilus_curl.easy_cleanup(easy); }
void nautilus_easy_reset(nautilus_easy *easy) { nautilus_curl.easy_reset(easy); }

int nautilus_easy_set_number(nautilus_easy *easy, int32_t option, long value) {
    return nautilus_curl.easy_setopt(easy, option, value) == 0;
}

int nautilus_easy_set_size(nautilus_easy *easy, int32_t option, int64_t value) {
    return nautilus_curl.easy_setopt(easy, option, value) == 0;
}

int nautilus_easy_set_text(nautilus_easy *easy, int32_t option, const char *value) {
    return nautilus_curl.easy_setopt(easy, option, value) == 0;
}

int nautilus_easy_set_pointer(nautilus_easy *easy, int32_t option, const void *value) {
    return nautilus_curl.easy_setopt(easy, option, value) == 0;
}

int nautilus_easy_set_bytes(nautilus_easy *easy, int32_t option, const void *bytes, size_t count) {
    const unsigned int copy = 1;
    struct curl_blob blob = {(void *)bytes, count, copy};
    return nautilus_curl.easy_setopt(easy, option, &blob) == 0;
}

long nautilus_easy_number(nautilus_easy *easy, int32_t info) {
    long value = 0;
    return nautilus_curl.easy_getinfo(easy, info, &value) == 0 ? value : 0;
}

int64_t nautilus_easy_microseconds(nautilus_easy *easy, int32_t info) {
    int64_t value = 0;
    return nautilus_curl.easy_getinfo(easy, info, &value) == 0 ? value : 0;
}

void nautilus_easy_resume(nautilus_easy *easy) { nautilus_curl.easy_pause(easy, 0); }

int32_t nautilus_easy_send(nautilus_easy *easy, const void *bytes, size_t count, size_t *sent) {
    *sent = 0;
    return nautilus_curl.easy_send(easy, bytes, count, sent);
}

int32_t nautilus_easy_receive(nautilus_easy *easy, void *bytes, size_t count, size_t *received) {
    *received = 0;
    return nautilus_curl.easy_recv(easy, bytes, count, received);
}

static int seek(void *context, int64_t offset, int origin) {
    const int seek_ok = 0, seek_failed = 1;
    return origin == 0 && offset == 0 && nautilus_functions.rewind(context) ? seek_ok : seek_failed;
}

static int admit(void *context, char *peer, char *own, int peer_port, int own_port) {
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    const int go_on = 0, abort_it = 1;
    return nautilus_functions.admit(context) ? go_on : abort_it;
}

void nautilus_easy_set_context(nautilus_easy *easy, void *context) {
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_HEADERFUNCTION, nautilus_functions.header);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_HEADERDATA, context);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_WRITEFUNCTION, nautilus_functions.write);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_WRITEDATA, context);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_READFUNCTION, nautilus_functions.read);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_READDATA, context);
    nautilus_curl.easy_setopt(easy, option_seek_function, seek);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_SEEKDATA, context);
    nautilus_curl.easy_setopt(easy, option_prerequest_function, admit);
    nautilus_curl.easy_setopt(easy, NAUTILUS_CURL_PREREQDATA, context);
}

// As libcurl lays it out (`struct curl_slist`).
struct line {
    char *text;
    struct line *next;
};

nautilus_list *nautilus_list_create(const void *texts, size_t length) {
    const char *bytes = texts;
    size_t count = 0;
    for (size_t index = 0; index < length; index++) count += bytes[index] == 0;
    if (count == 0) return NULL;
    struct line *lines = malloc(count * sizeof(struct line) + length);
    if (lines == NULL) return NULL;
    char *text = memcpy(lines + count, bytes, length);
    for (size_t index = 0; index < count; index++) {
        lines[index].text = text;
        lines[index].next = index + 1 < count ? &lines[index + 1] : NULL;
        text += strlen(text) + 1;
    }
    return lines;
}

void nautilus_list_destroy(nautilus_list *list) { free(list); }

#endif
