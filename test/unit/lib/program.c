/* SPDX-License-Identifier: MIT */
/* program.c - main() of a program with the tests of a room.
 *
 *   objs/test/test_NAME         a link to the program: runs test_NAME.c
 *   objs/test/room_ROOM [NAME]  runs test_NAME.c, or each file in a process of its own
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MOST = 64 };

static struct {
    const char *name;
    int (*run)(void);
} files[FILES_MOST];
static size_t n_files;

void unit_add(const char *name, int (*run)(void))
{
    assert_true(n_files < FILES_MOST);
    files[n_files].name = name;
    files[n_files++].run = run;
}

/* True: there is such a file, and *result is what its main() returned. */
static bool run_file(const char *name, int *result)
{
    for (size_t i = 0; i < n_files; i++) {
        if (strcmp(files[i].name, name) == 0) {
            *result = files[i].run();
            return true;
        }
    }
    return false;
}

static int run_all(void)
{
    int bad = 0;

    for (size_t i = 0; i < n_files; i++) {
        int status = 1;
        pid_t pid = fork();

        if (pid == 0)
            return files[i].run();
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
            fprintf(stderr, "%s: status %d\n", files[i].name, status);
            bad++;
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    int result = 1;

    if (run_file(slash ? slash + 1 : argv[0], &result))
        return result;
    if (argc == 1)
        return run_all();
    if (!run_file(argv[1], &result))
        fprintf(stderr, "no %s in %s\n", argv[1], argv[0]);
    return result;
}
