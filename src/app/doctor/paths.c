/* SPDX-License-Identifier: MIT */
/* paths.c - may we write and read what the configuration names, and is there room? */
#include "app/doctor/plan.h"
#include "conf/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LITTLE ((int64_t)1 << 30)  /* bytes: a warning */
#define NOTHING ((int64_t)64 << 20) /* as good as full */

static bool may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* The folder that a path is in: it is cut off. */
static char *above(struct doctor_plan *p, char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        return conf_arena_dup(p->arena, ".");
    slash[slash == path] = '\0';
    return path;
}

/* The nearest folder above a path that is there. */
static char *nearest(struct doctor_plan *p, const char *path)
{
    char *out = conf_arena_dup(p->arena, *path ? path : ".");
    struct stat st;

    while (stat(out, &st) < 0 && strcmp(out, ".") != 0 && strcmp(out, "/") != 0)
        out = above(p, out);
    return out;
}

/* How much room there is for it. */
static void room(struct doctor_plan *p, const struct doctor_path *one, const char *there,
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
            made ? " when it is made" : "", text);
    ADVISE(p, "make room (du -xh --max-depth=1 %s), or %s on another disk", there, one->directive);
}

static void refused(struct doctor_plan *p, const struct doctor_path *one, const char *folder)
{
    ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: user %d may not write to %s",
               one->path, (int)geteuid(), folder);
    if (errno == EROFS)
        ADVISE(p, "it is on a disk that is mounted read-only; in a unit of "
                      "systemd ReadWritePaths=%s", folder);
    else
        ADVISE(p, "chown it to the user of the server, or %s elsewhere",
                      one->directive);
}

/* True if a row was added: there is no such folder. */
static bool no_folder(struct doctor_plan *p, const struct doctor_path *one, const char *folder,
                      const char *there)
{
    struct stat st;

    if (one->kind == DOCTOR_FILE && strcmp(folder, there) != 0) {
        ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: there is no folder %s",
                   one->path, folder);
        ADVISE(p, "mkdir -p %s", folder);
        return true;
    }
    if (stat(there, &st) < 0 || S_ISDIR(st.st_mode))
        return false;
    ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: %s is no folder", one->path,
               there);
    ADVISE(p, "move it away, or %s elsewhere", one->directive);
    return true;
}

/* True if a row was added: we may not. */
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
        room(p, one, there, strcmp(there, folder) != 0);
}

static void reads(struct doctor_plan *p, const struct doctor_path *one)
{
    bool folder = strstr(one->directive, "dir") != NULL; /* of files there may be none yet */
    struct stat st;

    if (stat(one->path, &st) < 0) {
        ADD(p, folder ? DOCTOR_WARN : DOCTOR_FAIL, "path", one->directive, "%s: it is not there",
            one->path);
        ADVISE(p, folder ? "mkdir -p %s" : "put it there: %s", one->path);
    } else if (!may(one->path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK)) {
        ADD(p, DOCTOR_FAIL, "path", one->directive, "%s: %s", one->path, strerror(errno));
        ADVISE(p, "let the user of the server read it");
    } else {
        ADD(p, DOCTOR_OK, "path", one->directive, "%s: readable", one->path);
    }
}

/* ---- what everybody gets */

/* As realpath(), of what need not be there. NULL: it cannot be told. */
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
                   "%s is below %s: everybody gets %s that not everybody may play", one->path,
                   dir->directive, files ? "files" : "recordings of streams");
        ADVISE(p, "%s outside of %s%s", files ? "dir of vod" : "dvr_path",
                      dir->path, files ? "" : ", and a web server that asks for a password");
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
