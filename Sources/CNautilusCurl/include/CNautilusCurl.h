// libcurl, bound at run time, and an event loop for its transfers.
//
// The few functions and numbers that are used are declared here, so that building needs only a compiler. libcurl's
// interface has been stable since 2006, and a program that links Foundation's networking on Linux has libcurl loaded.
// Swift cannot call variadic functions, so each kind of argument has a wrapper.

#ifndef NAUTILUS_CURL_H
#define NAUTILUS_CURL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)

#if defined(__cplusplus)
extern "C" {
#endif

// The result of nautilus_curl_bind and nautilus_curl_initialize. Before both have returned NAUTILUS_CURL_BOUND, nothing
// that uses libcurl is safe to call.
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

// The answer of a function to a line of a header.
enum nautilus_head_answer {
    // End the transfer.
    NAUTILUS_HEAD_REFUSED,
    // More lines follow: these were an interim response's, or trailers.
    NAUTILUS_HEAD_TAKEN,
    // These were the response's own; from here on, trailers come line by line.
    NAUTILUS_HEAD_COMPLETE,
};

// Called by the library while a loop is stepped, with `count` bytes and the context of the transfer.
typedef size_t (*nautilus_data_function)(
    char *_Null_unspecified bytes, size_t count, void *_Null_unspecified context
);
struct nautilus_easy_functions {
    // Called with whole headers, and with the part that has arrived of a header that is too large or breaks off.
    enum nautilus_head_answer (*_Nonnull header)(
        const char *_Null_unspecified bytes, size_t count, void *_Null_unspecified context
    );
    // Returns how many bytes it has taken, or a nautilus_curl_answer.
    nautilus_data_function _Nonnull write;
    // Returns how many bytes it has put into `bytes`, or a nautilus_curl_answer.
    nautilus_data_function _Nonnull read;
    // Returns whether the body can be read from its beginning again.
    int (*_Nonnull rewind)(void *_Null_unspecified context);
    // Returns whether the request may be written now, to a new or a kept connection.
    int (*_Nonnull admit)(void *_Null_unspecified context);
};

// Initializes the library, with the functions of all transfers. Called once in a process. If the library lacks
// NAUTILUS_CURL_FEATURE_THREAD_SAFE, this is not thread-safe with other users of the library.
enum nautilus_curl_binding nautilus_curl_initialize(struct nautilus_easy_functions functions);

enum nautilus_curl_feature {
    NAUTILUS_CURL_FEATURE_ASYNC_DNS = 1 << 7,
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
    NAUTILUS_CURL_KEYPASSWD = 10026,
    NAUTILUS_CURL_CUSTOMREQUEST = 10036,
    NAUTILUS_CURL_CAINFO = 10065,
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
    NAUTILUS_CURL_INFO_HTTP_CONNECTCODE = 0x200016,
    NAUTILUS_CURL_INFO_NUM_CONNECTS = 0x20001A,
    NAUTILUS_CURL_INFO_PRIMARY_PORT = 0x200028,
    NAUTILUS_CURL_INFO_NAMELOOKUP_TIME_T = 0x600033,
    NAUTILUS_CURL_INFO_CONNECT_TIME_T = 0x600034,
    NAUTILUS_CURL_INFO_APPCONNECT_TIME_T = 0x600038,
};

enum nautilus_curl_answer {
    NAUTILUS_CURL_ABORT = 0x10000000,
    NAUTILUS_CURL_PAUSE = 0x10000001,
};

// A transfer's handle, with memory for its request's lines and its response's header.
typedef struct nautilus_easy nautilus_easy;

// The argument is the number of bytes above which a header is too large.
nautilus_easy *_Nullable nautilus_easy_create(size_t head_limit);
void nautilus_easy_destroy(nautilus_easy *_Nonnull easy);
// Resets every option.
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
// Sets the context with which the functions are called from here on.
void nautilus_easy_set_context(nautilus_easy *_Nonnull easy, void *_Nullable context);
// Has the function called with the part of a header that has arrived. Returns whether the function accepted it.
int nautilus_easy_flush(nautilus_easy *_Nonnull easy);
// Resumes whatever has been paused.
void nautilus_easy_resume(nautilus_easy *_Nonnull easy);

// Send and receive the bytes of a connection, after its handle has ended with CONNECT_ONLY and as long as the handle is
// in its loop. Each returns the library's code, one of these or a failure, and how many bytes it has moved; receiving 0
// bytes means the end.
enum nautilus_curl_result { NAUTILUS_CURL_OK = 0, NAUTILUS_CURL_AGAIN = 81 };
int32_t nautilus_easy_send(
    nautilus_easy *_Nonnull easy, const void *_Nonnull bytes, size_t count, size_t *_Nonnull sent
);
int32_t nautilus_easy_receive(
    nautilus_easy *_Nonnull easy, void *_Nonnull bytes, size_t count, size_t *_Nonnull received
);

// The lines of a request's header, in memory that is reused: they stay until others are begun. Setting them returns
// whether there was memory for all of them and the library accepted them.
void nautilus_easy_begin_lines(nautilus_easy *_Nonnull easy);
void nautilus_easy_add_to_line(nautilus_easy *_Nonnull easy, const void *_Nonnull bytes, size_t count);
void nautilus_easy_end_line(nautilus_easy *_Nonnull easy);
int nautilus_easy_set_lines(nautilus_easy *_Nonnull easy, int32_t option);

// A list of one line; null if there is no memory.
typedef void nautilus_list;
nautilus_list *_Nullable nautilus_list_create(const char *_Nonnull text);
void nautilus_list_destroy(nautilus_list *_Nullable list);

// The sockets, timers and kept connections of many transfers. Everything except wait and wake must be called by one
// thread at a time.
struct nautilus_loop;

// Null if the system has no descriptor or no memory left.
struct nautilus_loop *_Nullable nautilus_loop_create(long kept_connections);
// Closes the connections. After that, the loop can only be woken, and destroyed.
void nautilus_loop_close(struct nautilus_loop *_Nonnull loop);
void nautilus_loop_destroy(struct nautilus_loop *_Nonnull loop);
// Waits until there is something to do, or only looks whether there is. Called only by the loop's own thread, which
// then steps.
int32_t nautilus_loop_wait(struct nautilus_loop *_Nonnull loop, int32_t blocks);
// Ends the wait. May be called from any thread.
void nautilus_loop_wake(struct nautilus_loop *_Nonnull loop);
// Does what is due: what `wait` has found, and timers.
void nautilus_loop_step(struct nautilus_loop *_Nonnull loop, int32_t count);
// Does what timers have made due, such as beginning a transfer. May be called on any thread.
void nautilus_loop_begin(struct nautilus_loop *_Nonnull loop);
// Each returns whether the library agreed.
int nautilus_loop_add(struct nautilus_loop *_Nonnull loop, nautilus_easy *_Nonnull easy);
int nautilus_loop_remove(struct nautilus_loop *_Nonnull loop, nautilus_easy *_Nonnull easy);
// Whether, since the last call, the system had no descriptor for a connection. Then the kept ones are being closed.
int nautilus_loop_exhausted(struct nautilus_loop *_Nonnull loop);
// The next transfer that has ended, and how; null if there is none.
nautilus_easy *_Nullable nautilus_loop_ended(struct nautilus_loop *_Nonnull loop, int32_t *_Nonnull result);

// The next transfer whose connection a step has found ended by the server while the transfer was paused; null if there
// is none. The transfer may have ended since, and its handle may belong to another one.
nautilus_easy *_Nullable nautilus_loop_left(struct nautilus_loop *_Nonnull loop);

// Watches the connection of a handle that ended with CONNECT_ONLY, for reading (1), writing (2), both (3) or nothing
// (0). Returns its descriptor; -1 if the system refuses.
int32_t nautilus_loop_watch(struct nautilus_loop *_Nonnull loop, nautilus_easy *_Nonnull easy, int32_t interest);
// The descriptor of the next watched connection that a step has found ready; -1 if there is none.
int32_t nautilus_loop_ready(struct nautilus_loop *_Nonnull loop);

// Starts a detached thread with all signals blocked. Returns whether it could.
int nautilus_thread_start(void (*_Nonnull run)(void *_Nonnull context), void *_Nonnull context);

// Decoding of bodies, by libraries that are bound like libcurl, which usually brings them along. Each run reads from
// `input` and writes to `output` as much as it can, and reports both amounts; neither may have more than 4 GiB.
enum nautilus_coding_state { NAUTILUS_CODING_GOES_ON, NAUTILUS_CODING_ENDED, NAUTILUS_CODING_FAILED };
enum nautilus_coding {
    NAUTILUS_CODING_GZIP,
    // The two formats that are called deflate: with the header of RFC 1950, and without.
    NAUTILUS_CODING_ZLIB,
    NAUTILUS_CODING_DEFLATE,
    NAUTILUS_CODING_BROTLI,
    NAUTILUS_CODING_ZSTD,
};

struct nautilus_decoder;
// Whether the library for a coding is available; thread-safe.
int nautilus_decoder_exists(enum nautilus_coding coding);
// Null if there is no library for the coding, or no memory left.
struct nautilus_decoder *_Nullable nautilus_decoder_create(enum nautilus_coding coding);
void nautilus_decoder_destroy(struct nautilus_decoder *_Nonnull decoder);
// Begins again with the bytes that follow an end; returns 0 if nothing may follow.
int nautilus_decoder_reset(struct nautilus_decoder *_Nonnull decoder);
enum nautilus_coding_state nautilus_decoder_run(
    struct nautilus_decoder *_Nonnull decoder,
    const uint8_t *_Nonnull input, size_t *_Nonnull input_count,
    uint8_t *_Nonnull output, size_t *_Nonnull output_count
);

// Creates a compressor for gzip (RFC 1952); null if there is no zlib, or no memory left.
struct nautilus_deflater;
struct nautilus_deflater *_Nullable nautilus_deflater_create(void);
void nautilus_deflater_destroy(struct nautilus_deflater *_Nonnull deflater);
// With `is_last`, has to be called repeatedly until it reports the end.
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
