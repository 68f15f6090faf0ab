// libcurl, bound when the process runs, and an event loop for its transfers.
//
// Declarations of our own for the few functions and numbers that are used, so that nothing but a compiler is needed to build:
// libcurl's interface has been stable since 2006, and whoever links Foundation's networking on Linux has it loaded.
// Swift cannot call variadic functions, so each kind of argument has a wrapper.

#ifndef NAUTILUS_CURL_H
#define NAUTILUS_CURL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)

#if defined(__cplusplus)
extern "C" {
#endif

// Nothing here is safe to call before this has returned NAUTILUS_CURL_BOUND.
enum nautilus_curl_binding {
    NAUTILUS_CURL_BOUND = 0,
    NAUTILUS_CURL_NO_LIBRARY = 1,
    NAUTILUS_CURL_NO_SYMBOL = 2,
    NAUTILUS_CURL_NO_INITIALIZATION = 3,
};

struct nautilus_curl_version {
    // 0xXXYYZZ for X.Y.Z.
    uint32_t number;
    uint32_t features;
    const char *_Nullable text;
    // The TLS library's name and version; null without one.
    const char *_Nullable tls;
};

// Binds the library, once in a process; thread-safe. `version` is filled unless the library or a symbol is missing.
enum nautilus_curl_binding nautilus_curl_bind(struct nautilus_curl_version *_Nonnull version);

// A function's word for the lines of a header.
enum nautilus_head_answer {
    // The transfer is ended.
    NAUTILUS_HEAD_REFUSED,
    // Others are to come: they were an interim response's, or trailers.
    NAUTILUS_HEAD_TAKEN,
    // They were the response's own; trailers come line by line from here on.
    NAUTILUS_HEAD_COMPLETE,
};

// Called by the library while a loop is stepped, with `count` bytes and the context of the transfer.
typedef size_t (*nautilus_data_function)(
    char *_Null_unspecified bytes, size_t count, void *_Null_unspecified context
);
struct nautilus_easy_functions {
    // Called with whole headers, and with one that is too large, or breaks off, as far as it has come.
    enum nautilus_head_answer (*_Nonnull header)(
        const char *_Null_unspecified bytes, size_t count, void *_Null_unspecified context
    );
    // How many bytes it has taken, or a nautilus_curl_answer.
    nautilus_data_function _Nonnull write;
    // How many bytes it has put into `bytes`, or a nautilus_curl_answer.
    nautilus_data_function _Nonnull read;
    // Whether the body can be read from its beginning again.
    int (*_Nonnull rewind)(void *_Null_unspecified context);
    // Whether the request may be written now: to a new connection, or to one that was kept.
    int (*_Nonnull admit)(void *_Null_unspecified context);
};

// Initializes the library, with the functions of all transfers. Called once in a process; not thread-safe beside other
// users of a library that lacks NAUTILUS_CURL_FEATURE_THREAD_SAFE.
enum nautilus_curl_binding nautilus_curl_initialize(struct nautilus_easy_functions functions);

enum nautilus_curl_feature {
    NAUTILUS_CURL_FEATURE_ASYNC_DNS = 1 << 7,
    NAUTILUS_CURL_FEATURE_HTTP2 = 1 << 16,
    NAUTILUS_CURL_FEATURE_THREAD_SAFE = 1 << 30,
};

enum nautilus_curl_option {
    NAUTILUS_CURL_POST = 47,
    NAUTILUS_CURL_NOBODY = 44,
    NAUTILUS_CURL_UPLOAD = 46,
    NAUTILUS_CURL_SSLVERSION = 32,
    NAUTILUS_CURL_HTTPPROXYTUNNEL = 61,
    NAUTILUS_CURL_FRESH_CONNECT = 74,
    NAUTILUS_CURL_HTTP_VERSION = 84,
    NAUTILUS_CURL_BUFFERSIZE = 98,
    NAUTILUS_CURL_NOSIGNAL = 99,
    NAUTILUS_CURL_CONNECT_ONLY = 141,
    NAUTILUS_CURL_CONNECTTIMEOUT_MS = 156,
    NAUTILUS_CURL_HTTP_CONTENT_DECODING = 158,
    NAUTILUS_CURL_PROTOCOLS = 181,
    NAUTILUS_CURL_TCP_KEEPALIVE = 213,
    NAUTILUS_CURL_PATH_AS_IS = 234,
    NAUTILUS_CURL_SUPPRESS_CONNECT_HEADERS = 265,
    NAUTILUS_CURL_UPLOAD_BUFFERSIZE = 280,
    NAUTILUS_CURL_QUICK_EXIT = 322,
    NAUTILUS_CURL_URL = 10002,
    NAUTILUS_CURL_PROXY = 10004,
    NAUTILUS_CURL_ERRORBUFFER = 10010,
    NAUTILUS_CURL_HTTPHEADER = 10023,
    NAUTILUS_CURL_SSLCERT = 10025,
    NAUTILUS_CURL_KEYPASSWD = 10026,
    NAUTILUS_CURL_CUSTOMREQUEST = 10036,
    NAUTILUS_CURL_CAINFO = 10065,
    NAUTILUS_CURL_SSLKEY = 10087,
    NAUTILUS_CURL_CAPATH = 10097,
    NAUTILUS_CURL_COPYPOSTFIELDS = 10165,
    NAUTILUS_CURL_PROXYUSERNAME = 10175,
    NAUTILUS_CURL_PROXYPASSWORD = 10176,
    NAUTILUS_CURL_NOPROXY = 10177,
    NAUTILUS_CURL_RESOLVE = 10203,
    NAUTILUS_CURL_PINNEDPUBLICKEY = 10230,
    NAUTILUS_CURL_UNIX_SOCKET_PATH = 10231,
    NAUTILUS_CURL_PROXY_CAINFO = 10246,
    NAUTILUS_CURL_PROXY_CAPATH = 10247,
    NAUTILUS_CURL_INFILESIZE_LARGE = 30115,
    NAUTILUS_CURL_POSTFIELDSIZE_LARGE = 30120,
    NAUTILUS_CURL_SSLCERT_BLOB = 40291,
    NAUTILUS_CURL_SSLKEY_BLOB = 40292,
    NAUTILUS_CURL_CAINFO_BLOB = 40309,
};

enum nautilus_curl_info {
    NAUTILUS_CURL_INFO_REQUEST_SIZE = 0x20000C,
    NAUTILUS_CURL_INFO_SSL_VERIFYRESULT = 0x20000D,
    NAUTILUS_CURL_INFO_NUM_CONNECTS = 0x20001A,
    NAUTILUS_CURL_INFO_HTTP_VERSION = 0x20002E,
    NAUTILUS_CURL_INFO_TOTAL_TIME_T = 0x600032,
    NAUTILUS_CURL_INFO_NAMELOOKUP_TIME_T = 0x600033,
    NAUTILUS_CURL_INFO_CONNECT_TIME_T = 0x600034,
    NAUTILUS_CURL_INFO_STARTTRANSFER_TIME_T = 0x600036,
    NAUTILUS_CURL_INFO_APPCONNECT_TIME_T = 0x600038,
};

enum nautilus_curl_answer {
    NAUTILUS_CURL_ABORT = 0x10000000,
    NAUTILUS_CURL_PAUSE = 0x10000001,
};

// One transfer's handle, and memory for what it is told and tells.
typedef struct nautilus_easy nautilus_easy;

// With the number of bytes from which on a header is too large.
nautilus_easy *_Nullable nautilus_easy_create(size_t head_limit);
void nautilus_easy_destroy(nautilus_easy *_Nonnull easy);
// Forgets every option.
void nautilus_easy_reset(nautilus_easy *_Nonnull easy);

// Each returns whether the library took the value.
int nautilus_easy_set_number(nautilus_easy *_Nonnull easy, int32_t option, long value);
int nautilus_easy_set_size(nautilus_easy *_Nonnull easy, int32_t option, int64_t value);
int nautilus_easy_set_text(nautilus_easy *_Nonnull easy, int32_t option, const char *_Nullable value);
int nautilus_easy_set_pointer(nautilus_easy *_Nonnull easy, int32_t option, const void *_Nullable value);
// The bytes are copied.
int nautilus_easy_set_bytes(nautilus_easy *_Nonnull easy, int32_t option, const void *_Nonnull bytes, size_t count);

long nautilus_easy_number(nautilus_easy *_Nonnull easy, int32_t info);
int64_t nautilus_easy_microseconds(nautilus_easy *_Nonnull easy, int32_t info);
// Has the functions called, until the handle is reset.
void nautilus_easy_set_functions(nautilus_easy *_Nonnull easy);
// What they are called with from here on.
void nautilus_easy_set_context(nautilus_easy *_Nonnull easy, void *_Nullable context);
// Has the function called with the header that has come in part. Returns whether it has taken it.
int nautilus_easy_flush(nautilus_easy *_Nonnull easy);
// Lets whatever has been paused go on.
void nautilus_easy_resume(nautilus_easy *_Nonnull easy);

// The bytes of a connection, once its handle has ended with CONNECT_ONLY and as long as it is in its loop. Each returns the
// library's word for it, which is one of these or a failure, and how many bytes it has moved; to receive 0 is the end.
enum nautilus_curl_result { NAUTILUS_CURL_OK = 0, NAUTILUS_CURL_AGAIN = 81 };
int32_t nautilus_easy_send(
    nautilus_easy *_Nonnull easy, const void *_Nonnull bytes, size_t count, size_t *_Nonnull sent
);
int32_t nautilus_easy_receive(
    nautilus_easy *_Nonnull easy, void *_Nonnull bytes, size_t count, size_t *_Nonnull received
);

// The lines of its header, in memory that is used again: they stay until others are begun. To set them returns whether there
// was memory for all, and the library took them.
void nautilus_easy_begin_lines(nautilus_easy *_Nonnull easy);
void nautilus_easy_add_to_line(nautilus_easy *_Nonnull easy, const void *_Nonnull bytes, size_t count);
void nautilus_easy_end_line(nautilus_easy *_Nonnull easy);
int nautilus_easy_set_lines(nautilus_easy *_Nonnull easy, int32_t option);

// A list of one line; null where there is no memory.
typedef void nautilus_list;
nautilus_list *_Nullable nautilus_list_create(const char *_Nonnull text);
void nautilus_list_destroy(nautilus_list *_Nullable list);

// The sockets, timers and kept connections of many transfers. All but wait and wake is called by one thread at a time.
struct nautilus_loop;

// Null where the system has no descriptor or no memory left.
struct nautilus_loop *_Nullable nautilus_loop_create(long kept_connections);
void nautilus_loop_destroy(struct nautilus_loop *_Nonnull loop);
// Waits until something is to be done; by the loop's own thread only, which then steps.
int32_t nautilus_loop_wait(struct nautilus_loop *_Nonnull loop);
// Ends the wait; from any thread.
void nautilus_loop_wake(struct nautilus_loop *_Nonnull loop);
// Does what is due: what `wait` has found, and timers.
void nautilus_loop_step(struct nautilus_loop *_Nonnull loop, int32_t count);
// Does what is due of timers, such as beginning a transfer; on any thread.
void nautilus_loop_begin(struct nautilus_loop *_Nonnull loop);
// Each returns whether the library agreed.
int nautilus_loop_add(struct nautilus_loop *_Nonnull loop, nautilus_easy *_Nonnull easy);
int nautilus_loop_remove(struct nautilus_loop *_Nonnull loop, nautilus_easy *_Nonnull easy);
// The next transfer that has ended, and how; null when none has.
nautilus_easy *_Nullable nautilus_loop_ended(struct nautilus_loop *_Nonnull loop, int32_t *_Nonnull result);

// The next transfer whose connection a step has found to be ended by the server, while the transfer is paused; null when
// none is. One that has ended since may be among them, and its handle be another's.
nautilus_easy *_Nullable nautilus_loop_left(struct nautilus_loop *_Nonnull loop);

// Watches such a connection, to read it (1), to write to it (2), for both or for nothing (0). Returns its descriptor; -1
// where the system refuses.
int32_t nautilus_loop_watch(struct nautilus_loop *_Nonnull loop, nautilus_easy *_Nonnull easy, int32_t interest);
// The descriptor of the next one that a step has found to be ready; -1 when none is.
int32_t nautilus_loop_ready(struct nautilus_loop *_Nonnull loop);

// Starts a thread that is not waited for, with all signals blocked. Returns whether it could.
int nautilus_thread_start(void (*_Nonnull run)(void *_Nonnull context), void *_Nonnull context);

// The codings of bodies, undone by libraries that are bound like libcurl, which brings them along. Of `input` and `output`
// each run takes and gives as much as it can, and tells of both how much; neither has more than 4 GiB.
enum nautilus_coding_state { NAUTILUS_CODING_GOES_ON, NAUTILUS_CODING_ENDED, NAUTILUS_CODING_FAILED };
enum nautilus_coding {
    NAUTILUS_CODING_GZIP,
    // The two that are called deflate: with the header of RFC 1950, and without.
    NAUTILUS_CODING_ZLIB,
    NAUTILUS_CODING_DEFLATE,
    NAUTILUS_CODING_BROTLI,
    NAUTILUS_CODING_ZSTD,
};

struct nautilus_decoder;
// Whether the library for it is there; thread-safe.
int nautilus_decoder_exists(enum nautilus_coding coding);
// Null where there is no library for it, or no memory left.
struct nautilus_decoder *_Nullable nautilus_decoder_create(enum nautilus_coding coding);
void nautilus_decoder_destroy(struct nautilus_decoder *_Nonnull decoder);
// Begins again, with the bytes that follow an end; 0 where nothing may follow.
int nautilus_decoder_reset(struct nautilus_decoder *_Nonnull decoder);
enum nautilus_coding_state nautilus_decoder_run(
    struct nautilus_decoder *_Nonnull decoder,
    const uint8_t *_Nonnull input, size_t *_Nonnull input_count,
    uint8_t *_Nonnull output, size_t *_Nonnull output_count
);

// Whether zlib is there; thread-safe.
int nautilus_deflater_exists(void);
// Compresses as gzip has it (RFC 1952); null where there is no zlib, or no memory left.
struct nautilus_deflater;
struct nautilus_deflater *_Nullable nautilus_deflater_create(void);
void nautilus_deflater_destroy(struct nautilus_deflater *_Nonnull deflater);
// With `is_last`, again and again until it says that it has ended.
enum nautilus_coding_state nautilus_deflater_run(
    struct nautilus_deflater *_Nonnull deflater, int is_last,
    const uint8_t *_Nullable input, size_t *_Nonnull input_count,
    uint8_t *_Nonnull output, size_t *_Nonnull output_count
);

#if defined(__cplusplus)
}
#endif

#endif
#endif
