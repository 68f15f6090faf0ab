#ifndef SYSTEM_FAULTS_H
#define SYSTEM_FAULTS_H

#include <stddef.h>

/// The calls that can be made to fail. Each takes a path, or an open file of that path.
enum {
    system_faults_open,
    system_faults_write,
    system_faults_fsync,
    system_faults_rename,
    system_faults_unlink
};

/// The effect in place of the call, or after it; any other effect is the error number that the call fails with.
enum {
    system_faults_kill_before = -1,
    system_faults_kill_after = -2
};

/// Plans a fault.
///
/// - Parameters:
///   - call: One of the calls.
///   - ending: How the path ends that is meant; of a rename, the new one.
///   - first: The number of the first such call that is hit, counted from 1 and from now.
///   - count: How many are hit; a negative number for all.
///   - effect: The effect.
/// - Returns: 0; -1 when there are too many plans, or where calls cannot be made to fail.
int system_faults_plan(int call, const char *ending, int first, int count, int effect);

/// Forgets all plans.
void system_faults_clear(void);

/// Notes, from now on and anew, the calls on paths that begin so: at most 64.
///
/// - Returns: 0; -1 when the beginning is too long, or where calls cannot be noted.
int system_faults_watch(const char *beginning);

/// One of the calls that were noted, in their order from 0: it returns which, and writes its path.
///
/// - Returns: One of the calls; -1 when there were no more.
int system_faults_noted(int index, char *path, size_t size);

#endif
