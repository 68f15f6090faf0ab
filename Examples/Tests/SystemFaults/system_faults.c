// Calls of the system that fail, or kill the process, where a plan says so, and those that were made, in their order.
//
// The program defines them itself, and the dynamic linker prefers a program's own symbols to those of the C library, for
// the program's code and for that of the libraries which it has loaded. So no code under test has a hook in it.

#define _GNU_SOURCE
#include "system_faults.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct plan {
    int call;
    char ending[256];
    int first;
    int count;
    int effect;
    int seen;
};

struct note {
    int call;
    char path[512];
};

enum { max_plans = 16, max_notes = 64 };

// Guards the plans and the notes.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan plans[max_plans];
static struct note notes[max_notes];
static int note_count;
static char watched[256];
// Also read without the lock: most calls are made while nothing is planned or watched.
static atomic_int plan_count;
static atomic_int is_watching;

int system_faults_plan(int call, const char *ending, int first, int count, int effect) {
    int result = -1;
    pthread_mutex_lock(&lock);
    if (plan_count < max_plans && strlen(ending) < sizeof plans[0].ending) {
        struct plan *plan = &plans[plan_count];
        *plan = (struct plan){.call = call, .first = first, .count = count, .effect = effect};
        strcpy(plan->ending, ending);
        plan_count++;
        result = 0;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

void system_faults_clear(void) {
    pthread_mutex_lock(&lock);
    plan_count = 0;
    pthread_mutex_unlock(&lock);
}

int system_faults_watch(const char *beginning) {
    int result = -1;
    pthread_mutex_lock(&lock);
    if (strlen(beginning) < sizeof watched) {
        strcpy(watched, beginning);
        note_count = 0;
        is_watching = 1;
        result = 0;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int system_faults_noted(int index, char *path, size_t size) {
    int call = -1;
    pthread_mutex_lock(&lock);
    if (index < note_count && strlen(notes[index].path) < size) {
        strcpy(path, notes[index].path);
        call = notes[index].call;
    }
    pthread_mutex_unlock(&lock);
    return call;
}

// With the lock held. One note too many is the last one: a test that counts sees it.
static void note(int call, const char *path) {
    if (!is_watching || strncmp(path, watched, strlen(watched)) != 0) return;
    struct note *note = &notes[note_count < max_notes ? note_count++ : max_notes - 1];
    note->call = call;
    snprintf(note->path, sizeof note->path, "%s", path);
}

static int ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), wanted = strlen(ending);
    return length >= wanted && strcmp(path + length - wanted, ending) == 0;
}

// The effect on a call; 0 for none.
static int effect_at(int call, const char *path) {
    int effect = 0;
    if (plan_count == 0 && !is_watching) return 0;
    pthread_mutex_lock(&lock);
    note(call, path);
    for (int index = 0; index < plan_count; index++) {
        struct plan *plan = &plans[index];
        if (plan->call != call || !ends_with(path, plan->ending)) continue;
        plan->seen++;
        if (plan->seen < plan->first) continue;
        if (plan->count >= 0 && plan->seen - plan->first >= plan->count) continue;
        effect = plan->effect;
    }
    pthread_mutex_unlock(&lock);
    return effect;
}

static int effect_on_file(int call, int file) {
    char link[64], path[PATH_MAX];
    if (plan_count == 0 && !is_watching) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return effect_at(call, path);
}

// As a power cut or an impatient user would: nothing of the process runs any more.
static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// The C library's own function. Twice the same answer from two threads does no harm.
#define NEXT(name) ((__typeof__(&name))next_of(#name))

static void *next_of(const char *name) {
    void *next = dlsym(RTLD_NEXT, name);
    if (next == NULL) die();
    return next;
}

int rename(const char *old, const char *new) {
    int effect = effect_at(system_faults_rename, new);
    if (effect == system_faults_kill_before) die();
    if (effect > 0) {
        errno = effect;
        return -1;
    }
    int result = NEXT(rename)(old, new);
    if (effect == system_faults_kill_after) die();
    return result;
}

int unlink(const char *path) {
    int effect = effect_at(system_faults_unlink, path);
    if (effect == system_faults_kill_before) die();
    if (effect > 0) {
        errno = effect;
        return -1;
    }
    int result = NEXT(unlink)(path);
    if (effect == system_faults_kill_after) die();
    return result;
}

int fsync(int file) {
    int effect = effect_on_file(system_faults_fsync, file);
    if (effect == system_faults_kill_before) die();
    if (effect > 0) {
        errno = effect;
        return -1;
    }
    int result = NEXT(fsync)(file);
    if (effect == system_faults_kill_after) die();
    return result;
}

ssize_t write(int file, const void *bytes, size_t count) {
    int effect = effect_on_file(system_faults_write, file);
    if (effect == system_faults_kill_before) die();
    // A disk that fills up takes a part first, and so does one whose machine is switched off.
    size_t taken = effect == 0 ? count : count / 2;
    ssize_t result = NEXT(write)(file, bytes, taken);
    if (effect == system_faults_kill_after) die();
    if (effect > 0) {
        errno = effect;
        return -1;
    }
    return result;
}

// Only those for writing count: a file system that must not be written can be read.
int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    int is_for_writing = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    int effect = is_for_writing ? effect_at(system_faults_open, path) : 0;
    if (effect == system_faults_kill_before) die();
    if (effect > 0) {
        errno = effect;
        return -1;
    }
    int result = NEXT(open)(path, flags, mode);
    if (effect == system_faults_kill_after) die();
    return result;
}

#else

// Elsewhere a library calls the C library that it was linked with, whatever the program defines.
int system_faults_plan(int call, const char *ending, int first, int count, int effect) {
    return -1;
}

void system_faults_clear(void) {
}

int system_faults_watch(const char *beginning) {
    return -1;
}

int system_faults_noted(int index, char *path, size_t size) {
    return -1;
}

#endif
