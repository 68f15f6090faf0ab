#include "allocation_counter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool is_enabled;
static atomic_size_t counter;

void allocation_counter_enable(bool enabled) { atomic_store(&is_enabled, enabled); }

size_t allocation_counter_value(void) { return atomic_load(&counter); }

#if defined(__GLIBC__)

// glibc exports its own functions under these names, so that a program can define malloc and still have memory.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static inline void note(void) {
    if (atomic_load_explicit(&is_enabled, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    note();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    note();
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *memory = __libc_memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *block = memory;
    return 0;
}

bool allocation_counter_is_available(void) { return true; }

#else

bool allocation_counter_is_available(void) { return false; }

#endif

void allocation_counter_exercise(size_t count) {
    for (size_t index = 0; index < count; index++) {
        // Through a volatile pointer, since a compiler may leave out an allocation that is never read.
        void *volatile block = NULL;
        switch (index % 4) {
            case 0: block = malloc(64); break;
            case 1: block = calloc(4, 16); break;
            case 2: block = realloc(NULL, 64); break;
            default: {
                void *aligned = NULL;
                if (posix_memalign(&aligned, 64, 64) == 0) block = aligned;
            }
        }
        free(block);
    }
}
