/* SPDX-License-Identifier: MIT */
/* tls_handshake.c - the parts of TLS that run on helper threads: handshakes and files. */
#include "co/net/tls_handshake.h"

#include "base/must.h"
#include "base/text.h"
#include "co/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOAD_TIME CO_SECONDS(10)

/* ---- the handshake */

static err_t step(struct tls_core **core, bool slow, co_usec until)
{
    err_t err;

    if (!slow) {
        tls_core_shake(*core);
        return NULL;
    }
    err = co_thread_run(CO_POOL_TLS, tls_core_shake, *core, tls_core_free, until - co_clock());
    if (err)
        *core = NULL;
    return err;
}

static err_t send_out(struct io *below, struct tls_core *c)
{
    err_t err = NULL;

    if (c->out_end > c->out_at)
        err = io_write(below, c->out + c->out_at, c->out_end - c->out_at);
    c->out_at = c->out_end = 0;
    return err;
}

static err_t read_in(struct io *below, struct tls_core *c)
{
    size_t size, n;
    uint8_t *room = tls_core_room(c, &size);
    err_t err;

    if (!room)
        return err_new(ERR_NO_MEMORY, "%d bytes of TLS", TLS_IN);
    if (size == 0)
        return err_new(ERR_TLS, "a handshake message of over %d bytes", TLS_IN);
    err = io_read(below, room, size, &n);
    if (!err)
        c->in_end += n;
    return err;
}

err_t tls_handshake(struct io *below, struct tls_core **core, bool slow, co_usec timeout)
{
    co_usec until = co_clock() + timeout;
    struct tls_core *c = *core;
    err_t err, ignored;

    for (;;) {
        co_usec left = until - co_clock();

        if (left <= 0)
            return err_new(ERR_IO_TIMEOUT, "no TLS handshake in %lld ms", us_to_ms(timeout));
        err = step(core, slow, until);
        if (err)
            return err;
        below->read_timeout = below->write_timeout = left;
        if (c->step == TLS_FAILED) {
            ignored = send_out(below, c); /* the alert with the reason */
            err_free(&ignored);
            return err_new(ERR_TLS, "handshake: %s", c->text);
        }
        err = send_out(below, c);
        if (err || c->step == TLS_DONE)
            return err;
        err = read_in(below, c);
        if (err)
            return err_wrap(err, "TLS handshake");
    }
}

/* ---- files */

struct files {
    size_t n;
    struct io_tls_rules rules; /* with its own copy of the cipher text */
    char **names, **certs, **keys;
};

static char *copy(const char *text)
{
    return must_dup(text_or_empty(text));
}

static void files_free(struct files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->names[i]);
        free(f->certs[i]);
        free(f->keys[i]);
    }
    free(f->names);
    free(f->certs);
    free(f->keys);
    free((void *)(uintptr_t)f->rules.ciphers);
    *f = (struct files){ 0 };
}

static void files_begin(struct files *f, size_t n, const struct io_tls_rules *rules)
{
    *f = (struct files){ .n = n, .rules = *rules };
    f->rules.ciphers = copy(rules->ciphers);
    f->names = must(calloc(n + 1, sizeof(char *)));
    f->certs = must(calloc(n + 1, sizeof(char *)));
    f->keys = must(calloc(n + 1, sizeof(char *)));
}

static void files_copy(struct files *to, const struct files *from)
{
    files_begin(to, from->n, &from->rules);
    for (size_t i = 0; i < from->n; i++) {
        to->names[i] = copy(from->names[i]);
        to->certs[i] = copy(from->certs[i]);
        to->keys[i] = copy(from->keys[i]);
    }
}

/* Returns a value that changes when the file is replaced. */
static uint64_t mark_of(const char *path, uint64_t mark)
{
    struct stat st = { 0 };
    const uint64_t prime = 0x100000001b3;

    if (stat(path, &st) < 0)
        return (mark ^ 1) * prime;
    mark = (mark ^ (uint64_t)st.st_ino) * prime;
    mark = (mark ^ (uint64_t)st.st_size) * prime;
    mark = (mark ^ (uint64_t)st.st_mtim.tv_sec) * prime;
    return (mark ^ (uint64_t)st.st_mtim.tv_nsec) * prime;
}

struct load_job {
    struct files files;
    bool if_changed;
    uint64_t mark;           /* in: mark of the loaded files; out: mark of the current ones */
    struct tls_certs *certs; /* NULL: not loaded; text has the reason, unless nothing changed */
    char text[TLS_TEXT];
};

/* Runs on a helper thread. */
static void load(void *arg)
{
    struct load_job *j = arg;
    uint64_t mark = 0xcbf29ce484222325;

    for (size_t i = 0; i < j->files.n; i++)
        mark = mark_of(j->files.keys[i], mark_of(j->files.certs[i], mark));
    if (j->if_changed && mark == j->mark)
        return;
    j->mark = mark;
    j->certs = tls_certs_load((const char *const *)j->files.names,
                              (const char *const *)j->files.certs,
                              (const char *const *)j->files.keys, j->files.n, &j->files.rules,
                              j->text);
}

static void load_free(void *arg)
{
    struct load_job *j = arg;

    files_free(&j->files);
    (void)tls_certs_unref(j->certs);
    free(j);
}

/* ---- the server's certificates */

struct io_tls_server {
    atomic_uint refs;
    struct files files;
    uint64_t mark;           /* used only by the refreshing coroutine, as is */
    char error[TLS_TEXT];    /* why changed files were rejected; "": they were accepted */
    int64_t loaded_at;       /* ms since 1970 */
    pthread_mutex_t lock;    /* protects `certs`, which connections of all threads read */
    struct tls_certs *certs; /* current */
};

/* Loads the certificates; *out is the job, which the caller frees. */
static err_t run_load(const struct files *files, bool if_changed, uint64_t mark,
                      struct load_job **out)
{
    struct load_job *j = must(calloc(1, sizeof(*j)));
    err_t err;

    files_copy(&j->files, files);
    j->if_changed = if_changed;
    j->mark = mark;
    err = co_thread_run(CO_POOL_TLS, load, j, load_free, LOAD_TIME);
    if (!err)
        *out = j;
    return err;
}

/* Makes the loaded certificates current. */
static void take(struct io_tls_server *s, struct load_job *j)
{
    struct tls_certs *old;

    (void)pthread_mutex_lock(&s->lock);
    old = s->certs;
    s->certs = j->certs;
    (void)pthread_mutex_unlock(&s->lock);
    j->certs = NULL;
    s->loaded_at = co_wall_ms();
    s->error[0] = '\0';
    (void)tls_certs_unref(old);
}

static err_t load_first(struct io_tls_server *s, const struct io_tls_cert *certs, size_t n,
                        const struct io_tls_rules *rules)
{
    struct load_job *j = NULL;
    struct files files;
    err_t err;

    files_begin(&files, n, rules);
    for (size_t i = 0; i < n; i++) {
        files.names[i] = copy(certs[i].name);
        files.certs[i] = copy(certs[i].cert);
        files.keys[i] = copy(certs[i].key);
    }
    err = run_load(&files, false, 0, &j);
    if (!err && !j->certs)
        err = err_new(ERR_TLS, "%s", j->text);
    else if (!err)
        take(s, j);
    if (err) {
        files_free(&files);
    } else {
        s->files = files;
        s->mark = j->mark;
    }
    if (j)
        load_free(j);
    return err;
}

err_t io_tls_server_new(struct io_tls_server **out, const struct io_tls_cert *certs, size_t n,
                        const struct io_tls_rules *rules)
{
    struct io_tls_server *s = must(calloc(1, sizeof(*s)));
    err_t err;

    atomic_init(&s->refs, 1);
    (void)pthread_mutex_init(&s->lock, NULL);
    err = load_first(s, certs, n, rules);
    if (err)
        (void)io_tls_server_unref(s);
    else
        *out = s;
    return err;
}

err_t io_tls_server_refresh(struct io_tls_server *s, bool *changed)
{
    struct load_job *j;
    err_t err;

    *changed = false;
    (void)io_tls_server_ref(s);
    err = run_load(&s->files, true, s->mark, &j);
    if (!err) {
        if (j->certs) {
            take(s, j);
            *changed = true;
        } else if (j->mark != s->mark) {
            err = err_new(ERR_TLS, "%s", j->text);
            memcpy(s->error, j->text, sizeof(s->error));
        }
        s->mark = j->mark;
        load_free(j);
    }
    (void)io_tls_server_unref(s);
    return err;
}

struct io_tls_server *io_tls_server_ref(struct io_tls_server *s)
{
    (void)atomic_fetch_add(&s->refs, 1);
    return s;
}

struct io_tls_server *io_tls_server_unref(struct io_tls_server *s)
{
    if (s && atomic_fetch_sub(&s->refs, 1) == 1) {
        files_free(&s->files);
        (void)tls_certs_unref(s->certs);
        (void)pthread_mutex_destroy(&s->lock);
        free(s);
    }
    return NULL;
}

struct tls_certs *tls_server_certs(struct io_tls_server *s)
{
    struct tls_certs *certs;

    (void)pthread_mutex_lock(&s->lock);
    certs = tls_certs_ref(s->certs);
    (void)pthread_mutex_unlock(&s->lock);
    return certs;
}

bool io_tls_server_about(struct io_tls_server *s, size_t i, struct io_tls_about *out)
{
    struct tls_certs *certs;

    if (i >= s->files.n)
        return false;
    certs = tls_server_certs(s);
    *out = (struct io_tls_about){ .name = s->files.names[i], .file = s->files.certs[i],
                                  .loaded_at = s->loaded_at, .error = s->error };
    tls_about(tls_certs_x509(certs, i), out);
    (void)tls_certs_unref(certs);
    return true;
}

/* ---- a client's context */

struct client_job {
    bool any;
    char *ca;
    SSL_CTX *ctx;
    char text[TLS_TEXT];
};

static void make_client(void *arg)
{
    struct client_job *j = arg;

    j->ctx = tls_client_context(j->any, j->ca, j->text);
}

static void client_free(void *arg)
{
    struct client_job *j = arg;

    SSL_CTX_free(j->ctx);
    free(j->ca);
    free(j);
}

err_t tls_client_get(SSL_CTX **out, bool any, const char *ca)
{
    struct client_job *j = must(calloc(1, sizeof(*j)));
    err_t err;

    j->any = any;
    j->ca = copy(ca);
    err = co_thread_run(CO_POOL_TLS, make_client, j, client_free, LOAD_TIME);
    if (err)
        return err;
    *out = j->ctx;
    j->ctx = NULL;
    if (!*out)
        err = err_new(ERR_TLS, "%s", j->text);
    client_free(j);
    return err;
}
