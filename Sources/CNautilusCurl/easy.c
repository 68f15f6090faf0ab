// A transfer's handle: setters for options by the type of their argument, and the functions that the library calls.

#if defined(__linux__)

#include "binding.h"
#include "gate.h"

#include <stdlib.h>
#include <string.h>

// As libcurl lays it out (`struct curl_tlssessioninfo`).
struct tls_session {
    int library;
    void *session;
};

struct curl_blob {
    void *data;
    size_t length;
    unsigned int flags;
};

enum {
    option_forbid_reuse = 75,
    info_tls_session = 0x40002D,
    tls_openssl = 1,
    tls_gnutls = 2,
    option_write_data = 10001,
    option_read_data = 10009,
    option_header_data = 10029,
    option_seek_data = 10168,
    option_prerequest_data = 10313,
    option_write_function = 20011,
    option_read_function = 20012,
    option_header_function = 20079,
    option_seek_function = 20167,
    option_prerequest_function = 20312,
};

nautilus_easy *nautilus_easy_create(size_t head_limit) {
    nautilus_easy *easy = calloc(1, sizeof *easy);
    if (!easy) return NULL;
    easy->curl = nautilus_curl.easy_init();
    easy->socket = -1;
    easy->head_limit = head_limit;
    if (easy->curl) return easy;
    free(easy);
    return NULL;
}

void nautilus_easy_destroy(nautilus_easy *easy) {
    gate_enter();
    nautilus_curl.easy_cleanup(easy->curl);
    gate_leave();
    free(easy->head.bytes);
    free(easy->lines.bytes);
    free(easy->nodes);
    free(easy);
}

void nautilus_easy_reset(nautilus_easy *easy) {
    gate_enter();
    nautilus_curl.easy_reset(easy->curl);
    gate_leave();
    easy->loop = NULL;
    easy->ends_connection = 0;
}

int nautilus_easy_set_number(nautilus_easy *easy, int32_t option, long value) {
    return nautilus_curl.easy_setopt(easy->curl, option, value) == 0;
}

int nautilus_easy_set_size(nautilus_easy *easy, int32_t option, int64_t value) {
    return nautilus_curl.easy_setopt(easy->curl, option, value) == 0;
}

int nautilus_easy_set_text(nautilus_easy *easy, int32_t option, const char *value) {
    return nautilus_curl.easy_setopt(easy->curl, option, value) == 0;
}

int nautilus_easy_set_pointer(nautilus_easy *easy, int32_t option, const void *value) {
    return nautilus_curl.easy_setopt(easy->curl, option, value) == 0;
}

int nautilus_easy_set_bytes(nautilus_easy *easy, int32_t option, const void *bytes, size_t count) {
    const unsigned int copy = 1;
    struct curl_blob blob = {(void *)bytes, count, copy};
    return nautilus_curl.easy_setopt(easy->curl, option, &blob) == 0;
}

long nautilus_easy_number(nautilus_easy *easy, int32_t info) {
    long value = 0;
    return nautilus_curl.easy_getinfo(easy->curl, info, &value) == 0 ? value : 0;
}

int64_t nautilus_easy_microseconds(nautilus_easy *easy, int32_t info) {
    int64_t value = 0;
    return nautilus_curl.easy_getinfo(easy->curl, info, &value) == 0 ? value : 0;
}

void nautilus_easy_resume(nautilus_easy *easy) {
    gate_enter();
    nautilus_curl.easy_pause(easy->curl, 0);
    gate_leave();
}

int32_t nautilus_easy_send(nautilus_easy *easy, const void *bytes, size_t count, size_t *sent) {
    *sent = 0;
    gate_enter();
    int32_t code = nautilus_curl.easy_send(easy->curl, bytes, count, sent);
    gate_leave();
    return code;
}

int32_t nautilus_easy_receive(nautilus_easy *easy, void *bytes, size_t count, size_t *received) {
    *received = 0;
    gate_enter();
    int32_t code = nautilus_curl.easy_recv(easy->curl, bytes, count, received);
    gate_leave();
    return code;
}

// Returns 0 if there is no memory.
static int append(struct bytes *target, const char *bytes, size_t count) {
    if (count > target->capacity - target->count) {
        size_t capacity = target->capacity ? target->capacity : 1024;
        while (capacity - target->count < count) capacity *= 2;
        char *larger = realloc(target->bytes, capacity);
        if (!larger) return 0;
        target->bytes = larger;
        target->capacity = capacity;
    }
    memcpy(target->bytes + target->count, bytes, count);
    target->count += count;
    return 1;
}

// Hands over the part of a header that has been collected; returns 0 to end the transfer.
static int hand_over(nautilus_easy *easy) {
    enum nautilus_head_answer answer = nautilus_functions.header(easy->head.bytes, easy->head.count, easy->context);
    easy->head.count = 0;
    if (answer == NAUTILUS_HEAD_COMPLETE) easy->has_head = 1;
    return answer != NAUTILUS_HEAD_REFUSED;
}

static size_t take_line(char *bytes, size_t size, size_t count, void *context) {
    nautilus_easy *easy = context;
    size_t length = size * count;
    if (!append(&easy->head, bytes, length)) return 0;
    int is_empty = (length == 1 && bytes[0] == '\n') || (length == 2 && bytes[0] == '\r' && bytes[1] == '\n');
    // Not only at the end: a header that is too large is refused before that, and trailers have no empty line.
    if (!is_empty && !easy->has_head && easy->head.count <= easy->head_limit) return length;
    return hand_over(easy) ? length : 0;
}

int nautilus_easy_flush(nautilus_easy *easy) { return easy->head.count == 0 || hand_over(easy); }

// How much of the connection has been decrypted and not read.
static size_t decrypted(nautilus_easy *easy) {
    struct tls_session *tls = NULL;
    if (nautilus_curl.easy_getinfo(easy->curl, info_tls_session, &tls) != 0 || !tls || !tls->session) return 0;
    if (tls->library == tls_openssl && nautilus_curl.openssl_pending) {
        int count = nautilus_curl.openssl_pending(tls->session);
        return count > 0 ? (size_t)count : 0;
    }
    if (tls->library == tls_gnutls && nautilus_curl.gnutls_pending) return nautilus_curl.gnutls_pending(tls->session);
    return 0;
}

static void end_connection(nautilus_easy *easy, int ends) {
    if (easy->ends_connection == ends) return;
    easy->ends_connection = ends;
    const long value = ends;
    nautilus_curl.easy_setopt(easy->curl, option_forbid_reuse, value);
}

// Of a body with a length, libcurl reads no more than that. Whatever came behind it in the same record of TLS is then
// decrypted already: nobody sees it on the socket, and it would be taken for the answer to the next request. So unless
// it turns out to belong to this body, the connection ends with the transfer.
static void look_behind(nautilus_easy *easy) { end_connection(easy, decrypted(easy) > 0); }

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    look_behind(context);
    return nautilus_functions.write(bytes, size * count, ((nautilus_easy *)context)->context);
}

static size_t give_body(char *bytes, size_t size, size_t count, void *context) {
    return nautilus_functions.read(bytes, size * count, ((nautilus_easy *)context)->context);
}

static int seek(void *context, int64_t offset, int origin) {
    const int seek_ok = 0, seek_failed = 1;
    nautilus_easy *easy = context;
    return origin == 0 && offset == 0 && nautilus_functions.rewind(easy->context) ? seek_ok : seek_failed;
}

static int admit(void *context, char *peer, char *own, int peer_port, int own_port) {
    (void)peer, (void)own, (void)peer_port, (void)own_port;
    const int go_on = 0, abort_it = 1;
    nautilus_easy *easy = context;
    loop_connected(easy);
    end_connection(easy, 0);
    return nautilus_functions.admit(easy->context) ? go_on : abort_it;
}

void nautilus_easy_set_functions(nautilus_easy *easy) {
    void *curl = easy->curl;
    nautilus_curl.easy_setopt(curl, option_header_function, take_line);
    nautilus_curl.easy_setopt(curl, option_header_data, easy);
    nautilus_curl.easy_setopt(curl, option_write_function, take_body);
    nautilus_curl.easy_setopt(curl, option_write_data, easy);
    nautilus_curl.easy_setopt(curl, option_read_function, give_body);
    nautilus_curl.easy_setopt(curl, option_read_data, easy);
    nautilus_curl.easy_setopt(curl, option_seek_function, seek);
    nautilus_curl.easy_setopt(curl, option_seek_data, easy);
    nautilus_curl.easy_setopt(curl, option_prerequest_function, admit);
    nautilus_curl.easy_setopt(curl, option_prerequest_data, easy);
}

void nautilus_easy_set_context(nautilus_easy *easy, void *context) {
    easy->context = context;
    easy->has_head = 0;
    easy->head.count = 0;
    const size_t most_kept = 16384;
    if (easy->head.capacity <= most_kept) return;
    free(easy->head.bytes);
    easy->head = (struct bytes){NULL, 0, 0};
}

void nautilus_easy_begin_lines(nautilus_easy *easy) {
    easy->lines.count = 0;
    easy->line_count = 0;
    easy->lacks_memory = 0;
}

void nautilus_easy_add_to_line(nautilus_easy *easy, const void *bytes, size_t count) {
    if (!append(&easy->lines, bytes, count)) easy->lacks_memory = 1;
}

void nautilus_easy_end_line(nautilus_easy *easy) {
    nautilus_easy_add_to_line(easy, "", 1);
    easy->line_count++;
}

int nautilus_easy_set_lines(nautilus_easy *easy, int32_t option) {
    if (easy->lacks_memory) return 0;
    if (easy->line_count > easy->node_capacity) {
        struct line *nodes = realloc(easy->nodes, easy->line_count * sizeof *nodes);
        if (!nodes) return 0;
        easy->nodes = nodes;
        easy->node_capacity = easy->line_count;
    }
    char *text = easy->lines.bytes;
    for (size_t index = 0; index < easy->line_count; index++) {
        easy->nodes[index].text = text;
        easy->nodes[index].next = index + 1 < easy->line_count ? &easy->nodes[index + 1] : NULL;
        text += strlen(text) + 1;
    }
    return nautilus_easy_set_pointer(easy, option, easy->line_count ? easy->nodes : NULL);
}

nautilus_list *nautilus_list_create(const char *text) {
    size_t length = strlen(text) + 1;
    struct line *line = malloc(sizeof *line + length);
    if (!line) return NULL;
    *line = (struct line){memcpy(line + 1, text, length), NULL};
    return line;
}

void nautilus_list_destroy(nautilus_list *list) { free(list); }

#endif
