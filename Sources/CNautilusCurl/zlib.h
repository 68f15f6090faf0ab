// zlib's decompression, as the decoders use it.

#ifndef NAUTILUS_ZLIB_H
#define NAUTILUS_ZLIB_H

#if defined(__linux__)

#include "CNautilusCurl.h"

struct inflater;
// zlib's own numbers for the size of the window and the format around the data.
enum inflater_kind { inflate_gzip = 31, inflate_zlib = 15, inflate_raw = -15 };

// Whether zlib is available; thread-safe.
int inflater_exists(void);
// Null if there is no zlib, or no memory left.
struct inflater *inflater_create(enum inflater_kind kind);
void inflater_destroy(struct inflater *inflater);
int inflater_reset(struct inflater *inflater);
enum nautilus_coding_state inflater_run(
    struct inflater *inflater, const uint8_t *input, size_t *input_count, uint8_t *output, size_t *output_count
);

#endif
#endif
