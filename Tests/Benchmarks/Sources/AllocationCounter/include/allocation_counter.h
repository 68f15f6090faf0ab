#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stddef.h>

/// Whether allocations can be counted here: where glibc lets a program put its own `malloc` before the library's.
bool allocation_counter_is_available(void);

/// Starts or stops counting; while stopped, an allocation costs one more load and nothing else.
void allocation_counter_enable(bool enabled);

/// How many blocks were asked for, on all threads, while counting was on.
size_t allocation_counter_value(void);

/// Asks for `count` blocks and frees them, a quarter each by malloc, calloc, realloc and posix_memalign.
void allocation_counter_exercise(size_t count);

#endif
