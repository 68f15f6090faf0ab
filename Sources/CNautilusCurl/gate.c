// When a process exits, OpenSSL frees its tables, though other threads may be in the middle of an exchange over TLS, and
// crash. So those threads are kept out of the library before that.

#if defined(__linux__)

#define _GNU_SOURCE
#include "gate.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#if defined(PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP)
// Or an exit could wait for ever, since threads come faster than they go.
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
#endif

// How often the thread has entered.
static _Thread_local int depth = 0;
// Whether the thread is the one that exits, which may go on calling the library.
static _Thread_local int is_exiting = 0;

static void close_gate(void) {
    is_exiting = 1;
    // A function that the library has called is exiting the process, and nobody would open the gate for it.
    if (depth > 0) return;
    // A second, far longer than a thread stays: a thread that was stopped within, such as by a debugger or a fork, must
    // not keep the process from exiting.
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    pthread_rwlock_timedwrlock(&gate, &deadline);
}

// Functions are called at exit in the opposite order of their registration, so this comes before OpenSSL's.
void gate_install(void) { atexit(close_gate); }

void gate_enter(void) {
    if (!is_exiting && depth++ == 0) pthread_rwlock_rdlock(&gate);
}

void gate_leave(void) {
    if (!is_exiting && --depth == 0) pthread_rwlock_unlock(&gate);
}

#endif
