// These actions are extensions of POSIX, which Swift does not see on Linux.
#define _GNU_SOURCE
#include "SpawnActions.h"

int spawn_actions_add_chdir(posix_spawn_file_actions_t *actions, const char *folder) {
    return posix_spawn_file_actions_addchdir_np(actions, folder);
}

int spawn_actions_add_closefrom(posix_spawn_file_actions_t *actions, int first) {
#ifdef __APPLE__
    (void)actions;
    (void)first;
    return 0;
#else
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#endif
}
