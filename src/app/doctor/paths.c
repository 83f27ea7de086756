/* SPDX-License-Identifier: MIT */
/* paths.c - checks permissions and free space of the configured paths. */
#include "app/doctor/plan.h"
#include "conf/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LITTLE ((int64_t)1 << 30)   /* bytes; a warning below it */
#define NOTHING ((int64_t)64 << 20) /* bytes; counts as full below it */

static bool may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* Returns the parent folder of a path. */
static char *above(struct doctor_plan *p, char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        return conf_arena_dup(p->arena, ".");
    slash[slash == path] = '\0';
    return path;
}

/* Returns the nearest existing folder above a path. */
static char *nearest(struct doctor_plan *p, const char *path)
{
    char *out = conf_arena_dup(p->arena, *path ? path : ".");
    struct stat st;

    while (stat(out, &st) < 0 && strcmp(out, ".") != 0 && strcmp(out, "/") != 0)
        out = above(p, out);
    return out;
}

/* Checks the free space for it. */
static void check_space(struct doctor_plan *p, const struct doctor_path *one, const char *there,
                 bool made)
{
    struct statvfs v = { 0 };
    int64_t left, all;
    char text[16];
    bool known = statvfs(there, &v) == 0 && v.f_blocks > 0;
    bool inodes = v.f_files == 0 || v.f_favail > 0, few;

    left = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
    all = (int64_t)v.f_blocks * (int64_t)v.f_frsize;
    few = known && (left < LITTLE || left < all / 20);
    (void)doctor_bytes(left, text);
    if (known && (few || !inodes))
        ADD(p, left < NOTHING || !inodes ? DOCTOR_FAIL : DOCTOR_WARN, "path", one->directive,
            "%s: %s left on its disk%s", one->path, text, inodes ? "" : ", and no inodes");
    else
        ADD(p, DOCTOR_OK, "path", one->directive, "%s: writable%s, %s free", one->path,
            made ? " when created" : "", text);
    ADVISE(p, "free space (du -xh --max-depth=1 %s), or move %s to another disk", there,
           one->directive);
}

static void refused(struct doctor_plan *p, const struct doctor_path *one, const char *folder)
{
    ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: user %d has no permission to write to %s",
               one->path, (int)geteuid(), folder);
    if (errno == EROFS)
        ADVISE(p, "its disk is mounted read-only; in a systemd "
                      "unit ReadWritePaths=%s", folder);
    else
        ADVISE(p, "chown it to the server's user, or set %s to another folder",
                      one->directive);
}

/* Returns true if it added a row because the folder does not exist. */
static bool no_folder(struct doctor_plan *p, const struct doctor_path *one, const char *folder,
                      const char *there)
{
    struct stat st;

    if (one->kind == DOCTOR_FILE && strcmp(folder, there) != 0) {
        ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: folder %s does not exist",
                   one->path, folder);
        ADVISE(p, "mkdir -p %s", folder);
        return true;
    }
    if (stat(there, &st) < 0 || S_ISDIR(st.st_mode))
        return false;
    ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: %s is not a folder", one->path,
               there);
    ADVISE(p, "move it away, or set %s to another folder", one->directive);
    return true;
}

/* Returns true if it added a row because permission is missing. */
static bool no_right(struct doctor_plan *p, const struct doctor_path *one, const char *there)
{
    const char *what = one->kind == DOCTOR_FILE && access(one->path, F_OK) == 0 &&
                       !may(one->path, W_OK) ? one->path : NULL;

    if (!what && !may(there, W_OK | X_OK))
        what = there;
    if (what)
        refused(p, one, what);
    return what != NULL;
}

static void writes(struct doctor_plan *p, const struct doctor_path *one)
{
    char *folder = conf_arena_dup(p->arena, one->path), *there;

    if (one->kind == DOCTOR_FILE)
        folder = above(p, folder);
    there = nearest(p, folder);
    if (!no_folder(p, one, folder, there) && !no_right(p, one, there))
        check_space(p, one, there, strcmp(there, folder) != 0);
}

static void reads(struct doctor_plan *p, const struct doctor_path *one)
{
    bool folder = strstr(one->directive, "dir") != NULL; /* a file may not exist yet */
    struct stat st;

    if (stat(one->path, &st) < 0) {
        ADD(p, folder ? DOCTOR_WARN : DOCTOR_FAIL, "path", one->directive, "%s: does not exist",
            one->path);
        ADVISE(p, folder ? "mkdir -p %s" : "create it: %s", one->path);
    } else if (!may(one->path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK)) {
        ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: %s", one->path, strerror(errno));
        ADVISE(p, "give the server's user read permission");
    } else {
        ADD(p, DOCTOR_OK, "path", one->directive, "%s: readable", one->path);
    }
}

/* ---- recordings that http_server serves to everyone */

/* Like realpath(), but for a path that may not exist. Returns NULL if it cannot resolve it. */
static char *canonical(struct doctor_plan *p, const char *path)
{
    char *there = nearest(p, path), *real = realpath(there, NULL), *out = NULL;
    size_t n = strlen(there);
    const char *rest = strncmp(path, there, n) == 0 ? path + n : path;

    rest += strspn(rest, "/");
    if (real)
        out = conf_arena_printf(p->arena, "%s%s%s", real, *rest ? "/" : "", rest);
    free(real);
    return out;
}

static bool is_below(struct doctor_plan *p, const char *path, const char *folder)
{
    const char *a = canonical(p, path), *b = canonical(p, folder);
    size_t n = b ? strlen(b) : 0;

    return a && b && strncmp(a, b, n) == 0 && (a[n] == '/' || a[n] == '\0' || n == 1);
}

static void open_to_all(struct doctor_plan *p, const struct doctor_path *one)
{
    bool files = one->kind == DOCTOR_READ;

    for (size_t i = 0; i < p->path_n; i++) {
        const struct doctor_path *dir = &p->path[i];

        if (dir->kind != DOCTOR_READ || strncmp(dir->directive, "http_s", 6) != 0 ||
            !is_below(p, one->path, dir->path))
            continue;
        ADD(p, DOCTOR_WARN, "path", files ? "files" : "recordings",
                   "%s is below %s: %s that need authorization are public", one->path,
                   dir->directive, files ? "files" : "recordings of streams");
        ADVISE(p, "set %s to a folder outside %s%s", files ? "dir of vod" : "dvr_path",
                      dir->path, files ? "" : ", and use a web server with a password");
        return;
    }
}

void doctor_check_paths(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->path_n; i++) {
        if (p->path[i].guarded)
            open_to_all(p, &p->path[i]);
    }
    for (size_t i = 0; i < p->path_n; i++) {
        if (p->path[i].kind == DOCTOR_READ)
            reads(p, &p->path[i]);
        else
            writes(p, &p->path[i]);
    }
}
