/* SPDX-License-Identifier: MIT */
/* programs.c - checks that the programs of ingest, transcode and exec exist. */
#include "app/doctor/plan.h"

#include "conf/arena.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *in_path(struct doctor_plan *p, const char *name)
{
    const char *at = getenv("PATH");

    at = at && *at ? at : "/usr/local/bin:/usr/bin:/bin";
    for (size_t n = 0;; at += n + 1) {
        const char *path;

        n = strcspn(at, ":");
        path = conf_arena_printf(p->arena, "%.*s/%s", (int)n, at, name);
        if (access(path, X_OK) == 0)
            return path;
        if (!at[n])
            return NULL;
    }
}

/* Finds the program like the sinks that run it: a missing ffmpeg is searched in PATH. */
static const char *find(struct doctor_plan *p, const struct doctor_program *one)
{
    const char *slash = strrchr(one->path, '/');

    if (!slash)
        return in_path(p, one->path);
    if (access(one->path, X_OK) == 0)
        return one->path;
    return one->ffmpeg ? in_path(p, slash + 1) : NULL;
}

void doctor_check_programs(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->program_n; i++) {
        const struct doctor_program *one = &p->program[i];
        const char *found = find(p, one);

        ADD(p, found ? DOCTOR_OK : DOCTOR_FAIL, "program", one->directive, "%s%s",
            found ? found : one->path, found ? "" : " does not exist or is not executable");
        ADVISE(p, "%s", one->ffmpeg ? "apt install ffmpeg"
                                    : "use its full path, or chmod +x it");
    }
}
