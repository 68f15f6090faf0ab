// zlib's decompression, by its stable interface of 1995.

#if defined(__linux__)

#define _GNU_SOURCE
#include "CNautilusCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

struct zlib_stream {
    const uint8_t *next_in;
    unsigned int available_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int available_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *allocate;
    void *release;
    void *context;
    int data_type;
    unsigned long checksum;
    unsigned long reserved;
};

static int (*inflate_init)(struct zlib_stream *, int window_bits, const char *version, int stream_size);
static int (*inflate)(struct zlib_stream *, int flush);
static int (*inflate_reset)(struct zlib_stream *);
static int (*inflate_end)(struct zlib_stream *);

static pthread_once_t bound = PTHREAD_ONCE_INIT;

static void bind_all(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library) library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&inflate_init = dlsym(library, "inflateInit2_");
    *(void **)&inflate = dlsym(library, "inflate");
    *(void **)&inflate_reset = dlsym(library, "inflateReset");
    *(void **)&inflate_end = dlsym(library, "inflateEnd");
}

int nautilus_inflater_exists(void) {
    pthread_once(&bound, bind_all);
    return inflate_init && inflate && inflate_reset && inflate_end;
}

struct nautilus_inflater {
    struct zlib_stream stream;
};

struct nautilus_inflater *nautilus_inflater_create(enum nautilus_inflater_kind kind) {
    // It binds zlib as well.
    if (!nautilus_inflater_exists()) return NULL;
    struct nautilus_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    // zlib compares only the first digit of the version.
    if (inflate_init(&inflater->stream, kind, "1", (int)sizeof inflater->stream) != 0) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void nautilus_inflater_destroy(struct nautilus_inflater *inflater) {
    inflate_end(&inflater->stream);
    free(inflater);
}

int nautilus_inflater_reset(struct nautilus_inflater *inflater) { return inflate_reset(&inflater->stream) == 0; }

enum nautilus_inflater_state nautilus_inflater_run(
    struct nautilus_inflater *inflater, const uint8_t *input, size_t *input_count, uint8_t *output, size_t *output_count
) {
    const int no_flush = 0, ok = 0, stream_end = 1, buffer_error = -5;
    struct zlib_stream *stream = &inflater->stream;
    stream->next_in = input;
    stream->available_in = (unsigned int)*input_count;
    stream->next_out = output;
    stream->available_out = (unsigned int)*output_count;
    int result = inflate(stream, no_flush);
    *input_count -= stream->available_in;
    *output_count -= stream->available_out;
    if (result == stream_end) return NAUTILUS_INFLATE_ENDED;
    // No progress is possible: more input is needed.
    return result == ok || result == buffer_error ? NAUTILUS_INFLATE_GOES_ON : NAUTILUS_INFLATE_FAILED;
}

#endif
