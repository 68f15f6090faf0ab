#ifndef SPAWN_ACTIONS_H
#define SPAWN_ACTIONS_H

#include <spawn.h>

/// Has the child begin in `folder`. Returns 0 or an error number.
int spawn_actions_add_chdir(posix_spawn_file_actions_t *actions, const char *folder);

/// Has the child close all descriptors from `first` on. Does nothing on Apple's platforms, where
/// POSIX_SPAWN_CLOEXEC_DEFAULT does it. Returns 0 or an error number.
int spawn_actions_add_closefrom(posix_spawn_file_actions_t *actions, int first);

#endif
