// zlib's compression and decompression, through its interface, which has been stable since 1995.

#if defined(__linux__)

#define _GNU_SOURCE
#include "zlib.h"

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
static int (*deflate_init)(
    struct zlib_stream *, int level, int method, int window_bits, int memory_level, int strategy, const char *version,
    int stream_size
);
static int (*deflate)(struct zlib_stream *, int flush);
static int (*deflate_end)(struct zlib_stream *);

// zlib compares only the first digit of the version.
static const char version[] = "1";

static pthread_once_t bound = PTHREAD_ONCE_INIT;

static void bind_all(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library) library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&inflate_init = dlsym(library, "inflateInit2_");
    *(void **)&inflate = dlsym(library, "inflate");
    *(void **)&inflate_reset = dlsym(library, "inflateReset");
    *(void **)&inflate_end = dlsym(library, "inflateEnd");
    *(void **)&deflate_init = dlsym(library, "deflateInit2_");
    *(void **)&deflate = dlsym(library, "deflate");
    *(void **)&deflate_end = dlsym(library, "deflateEnd");
}

static enum nautilus_coding_state run(
    int (*work)(struct zlib_stream *, int flush), struct zlib_stream *stream, int flush, const uint8_t *input,
    size_t *input_count, uint8_t *output, size_t *output_count
) {
    const int ok = 0, stream_end = 1, buffer_error = -5;
    stream->next_in = input;
    stream->available_in = (unsigned int)*input_count;
    stream->next_out = output;
    stream->available_out = (unsigned int)*output_count;
    int result = work(stream, flush);
    *input_count -= stream->available_in;
    *output_count -= stream->available_out;
    if (result == stream_end) return NAUTILUS_CODING_ENDED;
    // No progress is possible: more input is needed.
    return result == ok || result == buffer_error ? NAUTILUS_CODING_GOES_ON : NAUTILUS_CODING_FAILED;
}

int inflater_exists(void) {
    pthread_once(&bound, bind_all);
    return inflate_init && inflate && inflate_reset && inflate_end;
}

struct inflater {
    struct zlib_stream stream;
};

struct inflater *inflater_create(enum inflater_kind kind) {
    // This also binds zlib.
    if (!inflater_exists()) return NULL;
    struct inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    if (inflate_init(&inflater->stream, kind, version, (int)sizeof inflater->stream) != 0) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

void inflater_destroy(struct inflater *inflater) {
    inflate_end(&inflater->stream);
    free(inflater);
}

int inflater_reset(struct inflater *inflater) { return inflate_reset(&inflater->stream) == 0; }

enum nautilus_coding_state inflater_run(
    struct inflater *inflater, const uint8_t *input, size_t *input_count, uint8_t *output, size_t *output_count
) {
    const int no_flush = 0;
    return run(inflate, &inflater->stream, no_flush, input, input_count, output, output_count);
}

static int deflater_exists(void) {
    pthread_once(&bound, bind_all);
    return deflate_init && deflate && deflate_end;
}

struct nautilus_deflater {
    struct zlib_stream stream;
};

struct nautilus_deflater *nautilus_deflater_create(void) {
    const int default_level = -1, deflated = 8, gzip_window = 31, default_memory = 8, default_strategy = 0;
    // This also binds zlib.
    if (!deflater_exists()) return NULL;
    struct nautilus_deflater *deflater = calloc(1, sizeof *deflater);
    if (!deflater) return NULL;
    int result = deflate_init(
        &deflater->stream, default_level, deflated, gzip_window, default_memory, default_strategy, version,
        (int)sizeof deflater->stream
    );
    if (result == 0) return deflater;
    free(deflater);
    return NULL;
}

void nautilus_deflater_destroy(struct nautilus_deflater *deflater) {
    deflate_end(&deflater->stream);
    free(deflater);
}

enum nautilus_coding_state nautilus_deflater_run(
    struct nautilus_deflater *deflater, int is_last, const uint8_t *input, size_t *input_count, uint8_t *output,
    size_t *output_count
) {
    const int no_flush = 0, finish = 4;
    return run(deflate, &deflater->stream, is_last ? finish : no_flush, input, input_count, output, output_count);
}

#endif
