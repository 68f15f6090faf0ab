// The facts about HTTP/2 that libcurl's trace tells and its interface does not: that a server has refused an exchange,
// that an answer is complete though the request is not, and how many exchanges a server takes at once.
//
// The trace is text for people, so it is read only of versions for which the tests have shown what it says. A line that
// merely contains such words, as the value of a field may, is not taken for one: its beginning, its end and its stream
// have to be right. Lines have secrets in them, and none is kept, apart from trailers, which are part of the answer.

#if defined(__linux__)

#define _GNU_SOURCE
#include "binding.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    option_verbose = 41,
    option_debug_data = 10095,
    option_debug_function = 20094,
    // libcurl cuts lines that do not fit into so many bytes.
    longest_line = 2048,
};

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static int is_begun;

static void begin(void) { is_begun = nautilus_curl.global_trace && nautilus_curl.global_trace("http/2") == 0; }

int nautilus_curl_trace(void) {
    pthread_once(&begun, begin);
    return is_begun;
}

// The rest of a line, while it is read from its beginning.
struct text {
    const char *bytes;
    size_t count;
};

static int skip(struct text *text, const char *part) {
    size_t count = strlen(part);
    if (text->count < count || memcmp(text->bytes, part, count) != 0) return 0;
    text->bytes += count;
    text->count -= count;
    return 1;
}

static int is_whole(struct text text, const char *whole) { return skip(&text, whole) && text.count == 0; }

// Reads a number of at most ten digits; -1 if there is none.
static int64_t take_number(struct text *text) {
    int64_t number = -1;
    for (int count = 0; count < 10 && text->count && *text->bytes >= '0' && *text->bytes <= '9'; count++) {
        number = (number < 0 ? 0 : number) * 10 + (*text->bytes - '0');
        text->bytes++;
        text->count--;
    }
    return number;
}

void trace_begin(nautilus_easy *easy) {
    easy->stream = 0;
    easy->connection = -1;
    easy->trace = (struct nautilus_trace){0, 0, 0};
    easy->trailers.count = 0;
    easy->lacks_trailers = 0;
}

void trace_add(struct traced *traced, nautilus_easy *easy) {
    if (easy->traced) return;
    easy->traced = traced;
    easy->previous = NULL;
    easy->next = traced->first;
    if (easy->next) easy->next->previous = easy;
    traced->first = easy;
}

void trace_remove(nautilus_easy *easy) {
    if (!easy->traced) return;
    if (easy->next) easy->next->previous = easy->previous;
    if (easy->previous) easy->previous->next = easy->next;
    else easy->traced->first = easy->next;
    easy->traced = NULL;
    easy->next = easy->previous = NULL;
}

static int64_t connection(nautilus_easy *easy) {
    int64_t number = -1;
    return nautilus_curl.easy_getinfo(easy->curl, NAUTILUS_CURL_INFO_CONN_ID, &number) == 0 ? number : -1;
}

// Takes a frame of any exchange of the handle's connection: one handle at a time reads and writes for all.
static void take_frame(nautilus_easy *easy, int64_t stream, struct text text, int is_own) {
    int is_header = skip(&text, "HEADERS, ");
    if (!is_header && !skip(&text, "DATA, ")) return;
    int is_last = memmem(text.bytes, text.count, "eos=1", 5) != NULL;
    if (!is_last && !(is_own && is_header)) return;
    int64_t number = connection(easy);
    for (nautilus_easy *other = easy->traced->first; other; other = other->next) {
        if (other->stream != stream || other->connection != number) continue;
        other->trace.is_traced |= is_own && is_header;
        other->trace.is_sent |= is_own && is_last;
        other->trace.is_ended |= !is_own && is_last;
        return;
    }
}

static void take_trailer(nautilus_easy *easy, struct text text, size_t whole) {
    if (whole >= longest_line - 3 || !bytes_append(&easy->trailers, text.bytes, text.count)) easy->lacks_trailers = 1;
}

static void allow(nautilus_easy *easy, int32_t count) {
    easy->traced->is_limited = 1;
    nautilus_functions.allowed(easy->context, count);
}

static void take_allowed(nautilus_easy *easy, struct text text) {
    // libcurl writes the number that stands for any as a negative one.
    int64_t count = is_whole(text, "-1\n") ? NAUTILUS_STREAMS_ANY : take_number(&text);
    if (count > INT32_MAX) count = NAUTILUS_STREAMS_ANY;
    allow(easy, (int32_t)count);
}

static int take_line(void *curl, int kind, char *bytes, size_t count, void *context) {
    (void)curl;
    const int is_text = 0;
    nautilus_easy *easy = context;
    struct text text = {bytes, count};
    if (kind != is_text || !easy->context || !easy->traced) return 0;
    if (is_whole(text, "using HTTP/1.x\n")) allow(easy, NAUTILUS_STREAMS_HTTP1);
    if (!skip(&text, "[HTTP/2] [")) return 0;
    int64_t stream = take_number(&text);
    if (stream < 0 || !skip(&text, "] ")) return 0;
    if (stream == 0) {
        if (skip(&text, "MAX_CONCURRENT_STREAMS: ")) take_allowed(easy, text);
    } else if (skip(&text, "OPENED stream for ")) {
        trace_begin(easy);
        easy->stream = (int32_t)stream;
        easy->connection = connection(easy);
    } else if (skip(&text, "-> FRAME[")) {
        take_frame(easy, stream, text, 1);
    } else if (skip(&text, "<- FRAME[")) {
        take_frame(easy, stream, text, 0);
    } else if (stream == easy->stream && skip(&text, "trailer: ")) {
        take_trailer(easy, text, count);
    } else if (stream == easy->stream && is_whole(text, "REFUSED_STREAM, try again on a new connection\n")) {
        nautilus_functions.refused(easy->context);
    }
    return 0;
}

void nautilus_easy_set_traced(nautilus_easy *easy) {
    const long on = 1;
    nautilus_curl.easy_setopt(easy->curl, option_debug_function, take_line);
    nautilus_curl.easy_setopt(easy->curl, option_debug_data, easy);
    // With no function, libcurl would print the lines.
    nautilus_curl.easy_setopt(easy->curl, option_verbose, on);
    easy->is_traced = 1;
}

struct nautilus_trace nautilus_easy_trace(nautilus_easy *easy) {
    struct nautilus_trace none = {0, 0, 0};
    return easy->trace.is_traced ? easy->trace : none;
}

int nautilus_easy_take_trailers(nautilus_easy *easy) {
    if (easy->lacks_trailers) return 0;
    if (!easy->trailers.count) return 1;
    size_t count = easy->trailers.count;
    easy->trailers.count = 0;
    return nautilus_functions.header(easy->trailers.bytes, count, easy->context) != NAUTILUS_HEAD_REFUSED;
}

#endif
