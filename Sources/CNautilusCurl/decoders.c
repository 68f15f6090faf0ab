// Decodes bodies (RFC 9110 §8.4.1): gzip and deflate with zlib, br with Brotli's decoder, zstd with Zstandard's.

#if defined(__linux__)

#define _GNU_SOURCE
#include "zlib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

struct zstd_input {
    const void *bytes;
    size_t size, position;
};

struct zstd_output {
    void *bytes;
    size_t size, position;
};

static struct {
    void *(*create)(void *allocate, void *release, void *context);
    void (*destroy)(void *);
    int (*run)(
        void *, size_t *available_in, const uint8_t **next_in, size_t *available_out, uint8_t **next_out, size_t *total
    );
} brotli;

static struct {
    void *(*create)(void);
    size_t (*destroy)(void *);
    size_t (*set)(void *, int parameter, int value);
    size_t (*run)(void *, struct zstd_output *, struct zstd_input *);
    unsigned (*is_error)(size_t);
} zstd;

static pthread_once_t bound = PTHREAD_ONCE_INIT;

static void *open_library(const char *name) {
    // If libcurl supports the coding, it has loaded the library already.
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void bind_all(void) {
    void *library = open_library("libbrotlidec.so.1");
    if (library) {
        *(void **)&brotli.create = dlsym(library, "BrotliDecoderCreateInstance");
        *(void **)&brotli.destroy = dlsym(library, "BrotliDecoderDestroyInstance");
        *(void **)&brotli.run = dlsym(library, "BrotliDecoderDecompressStream");
    }
    library = open_library("libzstd.so.1");
    if (library) {
        *(void **)&zstd.create = dlsym(library, "ZSTD_createDCtx");
        *(void **)&zstd.destroy = dlsym(library, "ZSTD_freeDCtx");
        *(void **)&zstd.set = dlsym(library, "ZSTD_DCtx_setParameter");
        *(void **)&zstd.run = dlsym(library, "ZSTD_decompressStream");
        *(void **)&zstd.is_error = dlsym(library, "ZSTD_isError");
    }
}

int nautilus_decoder_exists(enum nautilus_coding coding) {
    pthread_once(&bound, bind_all);
    switch (coding) {
    case NAUTILUS_CODING_BROTLI: return brotli.create && brotli.destroy && brotli.run;
    case NAUTILUS_CODING_ZSTD: return zstd.create && zstd.destroy && zstd.set && zstd.run && zstd.is_error;
    default: return inflater_exists();
    }
}

struct nautilus_decoder {
    enum nautilus_coding coding;
    void *state;
};

static void *create_zstd(void) {
    // A server must not make us keep a window of more than 8 MiB (RFC 9659 §3).
    const int window_log_max = 100, eight_megabytes = 23;
    void *state = zstd.create();
    if (!state || !zstd.is_error(zstd.set(state, window_log_max, eight_megabytes))) return state;
    zstd.destroy(state);
    return NULL;
}

static void *create_state(enum nautilus_coding coding) {
    switch (coding) {
    case NAUTILUS_CODING_GZIP: return inflater_create(inflate_gzip);
    case NAUTILUS_CODING_ZLIB: return inflater_create(inflate_zlib);
    case NAUTILUS_CODING_DEFLATE: return inflater_create(inflate_raw);
    case NAUTILUS_CODING_BROTLI: return brotli.create(NULL, NULL, NULL);
    case NAUTILUS_CODING_ZSTD: return create_zstd();
    }
    return NULL;
}

struct nautilus_decoder *nautilus_decoder_create(enum nautilus_coding coding) {
    // This also binds the libraries.
    if (!nautilus_decoder_exists(coding)) return NULL;
    struct nautilus_decoder *decoder = malloc(sizeof *decoder);
    if (!decoder) return NULL;
    *decoder = (struct nautilus_decoder){coding, create_state(coding)};
    if (decoder->state) return decoder;
    free(decoder);
    return NULL;
}

void nautilus_decoder_destroy(struct nautilus_decoder *decoder) {
    switch (decoder->coding) {
    case NAUTILUS_CODING_BROTLI: brotli.destroy(decoder->state); break;
    case NAUTILUS_CODING_ZSTD: zstd.destroy(decoder->state); break;
    default: inflater_destroy(decoder->state);
    }
    free(decoder);
}

int nautilus_decoder_reset(struct nautilus_decoder *decoder) {
    switch (decoder->coding) {
    case NAUTILUS_CODING_GZIP: return inflater_reset(decoder->state);
    // Another frame may follow, and the decoder continues by itself (RFC 8878 §3.1).
    case NAUTILUS_CODING_ZSTD: return 1;
    default: return 0;
    }
}

static enum nautilus_coding_state run_brotli(
    void *state, const uint8_t *input, size_t *input_count, uint8_t *output, size_t *output_count
) {
    const int failed = 0, ended = 1;
    size_t available_in = *input_count, available_out = *output_count;
    int result = brotli.run(state, &available_in, &input, &available_out, &output, NULL);
    *input_count -= available_in;
    *output_count -= available_out;
    if (result == failed) return NAUTILUS_CODING_FAILED;
    return result == ended ? NAUTILUS_CODING_ENDED : NAUTILUS_CODING_GOES_ON;
}

static enum nautilus_coding_state run_zstd(
    void *state, const uint8_t *input, size_t *input_count, uint8_t *output, size_t *output_count
) {
    struct zstd_input in = {input, *input_count, 0};
    struct zstd_output out = {output, *output_count, 0};
    size_t result = zstd.run(state, &out, &in);
    *input_count = in.position;
    *output_count = out.position;
    if (zstd.is_error(result)) return NAUTILUS_CODING_FAILED;
    // Any other result is a guess at how many bytes are still to come.
    return result == 0 ? NAUTILUS_CODING_ENDED : NAUTILUS_CODING_GOES_ON;
}

enum nautilus_coding_state nautilus_decoder_run(
    struct nautilus_decoder *decoder, const uint8_t *input, size_t *input_count, uint8_t *output, size_t *output_count
) {
    switch (decoder->coding) {
    case NAUTILUS_CODING_BROTLI: return run_brotli(decoder->state, input, input_count, output, output_count);
    case NAUTILUS_CODING_ZSTD: return run_zstd(decoder->state, input, input_count, output, output_count);
    default: return inflater_run(decoder->state, input, input_count, output, output_count);
    }
}

#endif
