/* SPDX-License-Identifier: MIT */
/* jwks_files.c - reads files of public keys on helper threads, and again when they change. */
#include "session/jwks_files.h"

#include "base/log.h"
#include "base/must.h"
#include "base/ref.h"
#include "co/co.h"
#include "co/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_TIME CO_SECONDS(10)

/* Identifies a version of a file. */
struct mark {
    uint64_t inode;
    int64_t size, sec, nsec;
    int sys; /* errno if it could not be opened */
};

struct file {
    char *path;
    struct mark mark;
    struct jwk_set *keys;
};

struct jwks_files {
    struct ref ref;
    size_t n;
    struct file v[];
};

static char *copy(const char *text)
{
    char *made = must(strdup(text));

    return made;
}

/* ---- one file, on a helper thread */

struct job {
    char *path;
    struct mark mark;      /* in: the previous version; out: the current one */
    bool changed;
    struct jwk_set *keys;  /* NULL on failure */
    char why[JWK_WHY];
};

static void drop(void *arg)
{
    struct job *j = arg;

    jwk_set_free(j->keys);
    free(j->path);
    free(j);
}

static void parse(struct job *j, int fd)
{
    char *text = must(malloc(JWK_FILE + 1));
    size_t size = 0;
    ssize_t n = 0;

    do {
        size += n > 0 ? (size_t)n : 0;
        n = read(fd, text + size, JWK_FILE + 1 - size);
    } while ((n > 0 && size < JWK_FILE + 1) || (n < 0 && errno == EINTR));
    if (n < 0)
        (void)snprintf(j->why, sizeof(j->why), "%s", strerrordesc_np(errno));
    else if (size > JWK_FILE)
        (void)snprintf(j->why, sizeof(j->why), "over %d KB", JWK_FILE / 1024);
    else
        j->keys = jwk_set_parse(text, size, j->why);
    free(text);
}

static struct mark mark_of(int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return (struct mark){ .sys = errno };
    return (struct mark){ .inode = st.st_ino, .size = st.st_size, .sec = st.st_mtim.tv_sec,
                          .nsec = st.st_mtim.tv_nsec };
}

static bool same(const struct mark *a, const struct mark *b)
{
    return a->inode == b->inode && a->size == b->size && a->sec == b->sec && a->nsec == b->nsec &&
           a->sys == b->sys;
}

static void run(void *arg)
{
    struct job *j = arg;
    int fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct mark now = mark_of(fd);

    j->changed = !same(&now, &j->mark);
    j->mark = now;
    if (j->changed && fd >= 0)
        parse(j, fd);
    else if (j->changed)
        (void)snprintf(j->why, sizeof(j->why), "%s", strerrordesc_np(now.sys));
    if (fd >= 0)
        (void)close(fd);
}

static struct job *new_job(const char *path, const struct mark *mark)
{
    struct job *j = must(calloc(1, sizeof(*j)));

    j->path = copy(path);
    j->mark = *mark;
    return j;
}

static err_t verdict(const struct job *j)
{
    return j->keys ? NULL : err_new(ERR_CONF, "jwks %.200s: %s", j->path, j->why);
}

static void tell(const struct job *j)
{
    log_trace("jwks %s: %zu keys%s%s%s", j->path, j->keys->n, *j->why ? ", left out: " : "",
              j->why, j->keys->left_out > 1 ? ", and more" : "");
}

/* Reads the file if it changed, and uses its keys if they are valid. */
static err_t refresh(struct file *f)
{
    struct job *j = new_job(f->path, &f->mark);
    err_t err = co_thread_run(CO_POOL_FILE, run, j, drop, READ_TIME);

    if (err)
        return err_wrap(err, "read %.200s", f->path); /* the helper thread owns j now */
    f->mark = j->mark;
    if (j->changed)
        err = verdict(j);
    if (j->changed && !err) {
        tell(j);
        jwk_set_free(f->keys);
        f->keys = j->keys;
        j->keys = NULL;
    }
    drop(j);
    return err;
}

/* ---- all files */

static bool is_wanted(const struct conf_vhost *v)
{
    return v->enabled && v->security.enabled && *v->security.token.jwks;
}

static struct jwks_files *collect(const struct conf *conf)
{
    struct jwks_files *f = must(calloc(1, sizeof(*f) + conf->vhost.n * sizeof(f->v[0])));

    ref_init(&f->ref);
    for (size_t i = 0; i < conf->vhost.n; i++) {
        const char *path = conf->vhost.v[i].security.token.jwks;
        size_t k = 0;

        if (!is_wanted(&conf->vhost.v[i]))
            continue;
        while (k < f->n && strcmp(f->v[k].path, path) != 0)
            k++;
        if (k == f->n)
            f->v[f->n++].path = copy(path);
    }
    return f;
}

err_t jwks_files_read(struct jwks_files **out, const struct conf *conf)
{
    struct jwks_files *f = collect(conf);
    err_t err = NULL;

    for (size_t i = 0; i < f->n && !err; i++)
        err = refresh(&f->v[i]);
    *out = err ? jwks_files_unref(f) : f;
    return err;
}

struct jwks_files *jwks_files_ref(struct jwks_files *f)
{
    ref_get(&f->ref);
    return f;
}

struct jwks_files *jwks_files_unref(struct jwks_files *f)
{
    if (!f || !ref_put(&f->ref))
        return NULL;
    for (size_t i = 0; i < f->n; i++) {
        jwk_set_free(f->v[i].keys);
        free(f->v[i].path);
    }
    free(f);
    return NULL;
}

const struct jwk_set *jwks_files_find(const struct jwks_files *f, const char *path)
{
    for (size_t i = 0; f && i < f->n; i++) {
        if (strcmp(f->v[i].path, path) == 0)
            return f->v[i].keys;
    }
    return NULL;
}

void jwks_files_refresh(struct jwks_files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        char text[512];
        err_t err = refresh(&f->v[i]);

        if (err && !co_stop_asked())
            log_warn("the old keys remain in use: %s", err_text(err, text, sizeof(text)));
        err_free(&err);
    }
}

/* ---- tests of the configuration, without coroutines */

/* Returns the path relative to work_dir, where the server will read it. */
static char *place_of(const struct conf *conf, const char *path)
{
    return must_print("%s%s%s", *path == '/' ? "" : conf->work_dir,
                      *path == '/' || !*conf->work_dir ? "" : "/", path);
}

err_t jwks_files_test(const struct conf *conf)
{
    struct jwks_files *f = collect(conf);
    err_t err = NULL;

    for (size_t i = 0; i < f->n && !err; i++) {
        char *place = place_of(conf, f->v[i].path);
        struct job *j = new_job(place, &f->v[i].mark);

        run(j);
        err = verdict(j);
        drop(j);
        free(place);
    }
    (void)jwks_files_unref(f);
    return err;
}
