/* SPDX-License-Identifier: MIT */
/* disks.c - checks the free space of the disks that the server writes to.
 *
 * A helper thread of the pool that writes to the disk checks each folder. If the disk hangs, it
 * blocks only threads that hang anyway, and is not checked again until the check returns.
 */
#include "app/watch/impl.h"

#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "conf/expand.h"
#include "sink/store/disk_count.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Nearly full: less than a twentieth is left, and less than PLENTY. It is fine again with a fifth
 * more than that. */
enum { PART = 20, MARGIN = 5, ABOVE_FLOOR = 3 };
#define PLENTY ((int64_t)100 << 30)
#define PATIENCE CO_SECONDS(5)

/* Reference counted: by the list and by the helper thread that checks. */
struct watch_probe {
    atomic_uint refs;
    atomic_bool busy;        /* a helper thread is checking, perhaps for long */
    struct disk_count *look; /* its result */
    enum co_pool pool;
    char root[256], uses[64];
    bool wanted;
    /* result of the last check */
    uint64_t device;
    int64_t size, free;
    char error[120];
};

/* ---- folders */

static struct watch_probe *probe_of(struct watch *u, const char *root, enum co_pool pool)
{
    struct watch_probe *p;

    for (size_t i = 0; i < u->n_probes; i++) {
        if (strcmp(u->probes[i]->root, root) == 0)
            return u->probes[i];
    }
    if (u->n_probes == WATCH_DISKS)
        return NULL;
    p = must(calloc(1, sizeof(*p)));
    atomic_init(&p->refs, 1);
    atomic_init(&p->busy, false);
    (void)snprintf(p->root, sizeof(p->root), "%s", root);
    p->pool = pool;
    u->probes[u->n_probes++] = p;
    return p;
}

static void add_use(char *uses, size_t size, const char *use)
{
    size_t used = strlen(uses);

    if (!strstr(uses, use))
        (void)snprintf(uses + used, size - used, "%s%s", used > 0 ? ", " : "", use);
}

static void want(struct watch *u, const char *use, const char *path, bool file,
                 enum co_pool pool)
{
    char root[sizeof(u->probes[0]->root)];
    struct watch_probe *p;

    conf_expand_folder(path, file, root, sizeof(root));
    p = probe_of(u, root, pool);
    if (!p)
        return;
    if (!p->wanted)
        p->uses[0] = '\0';
    p->wanted = true;
    add_use(p->uses, sizeof(p->uses), use);
}

static void want_of(struct watch *u, const struct conf_vhost *v)
{
    if (v->hls.enabled)
        want(u, "hls", v->hls.path, false, CO_POOL_DISK);
    if (v->dash.enabled)
        want(u, "dash", v->dash.path, false, CO_POOL_DISK);
    if (v->dvr.enabled)
        want(u, "dvr", v->dvr.path, conf_expand_is_file(v->dvr.path), CO_POOL_STORE);
}

static void unref(struct watch_probe *p)
{
    if (atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    if (p->look)
        disk_count_free(p->look);
    free(p);
}

static void want_all(struct watch *u)
{
    const struct conf *c = u->env->conf;
    size_t n = 0;

    for (size_t i = 0; i < u->n_probes; i++)
        u->probes[i]->wanted = false;
    if (c->srs_log_tank == CONF_TANK_FILE)
        want(u, "log", c->srs_log_file, true, CO_POOL_DISK);
    for (size_t i = 0; i < c->vhost.n; i++) {
        if (c->vhost.v[i].enabled)
            want_of(u, &c->vhost.v[i]);
    }
    for (size_t i = 0; i < u->n_probes; i++) {
        if (u->probes[i]->wanted)
            u->probes[n++] = u->probes[i];
        else
            unref(u->probes[i]);
    }
    u->n_probes = n;
}

void watch_drop_disks(struct watch *u)
{
    for (size_t i = 0; i < u->n_probes; i++)
        unref(u->probes[i]);
    u->n_probes = 0;
}

/* ---- a check */

static void step(void *probe)
{
    disk_count_step(((struct watch_probe *)probe)->look);
}

static void done(void *probe)
{
    struct watch_probe *p = probe;

    atomic_store(&p->busy, false);
    unref(p);
}

static void take(struct watch_probe *p)
{
    const struct disk_count *c = p->look;

    p->error[0] = '\0';
    if (c->error) {
        (void)snprintf(p->error, sizeof(p->error), "%s", strerror(c->error));
        return;
    }
    p->device = c->device;
    p->size = c->size;
    p->free = c->free;
}

/* Yields. Returns an error if the coroutine must stop. */
static err_t look(struct watch_probe *p)
{
    err_t err;

    if (atomic_load(&p->busy))
        return NULL;
    if (p->look)
        disk_count_free(p->look);
    p->look = disk_count_new(p->root, NULL, false);
    atomic_store(&p->busy, true);
    (void)atomic_fetch_add(&p->refs, 1);
    err = co_thread_run(p->pool, step, p, done, PATIENCE);
    if (!err) {
        take(p);
        done(p);
        return NULL;
    }
    if (err_code(err) == ERR_STOPPED)
        return err;
    if (err_code(err) == ERR_IO_TIMEOUT)
        (void)snprintf(p->error, sizeof(p->error), "the disk does not answer");
    err_free(&err);
    return NULL;
}

/* ---- disks */

static struct watch_disk *find(struct watch_disk *v, size_t n, const char *id, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(v[i].id, id) == 0 && (*id != '-' || strcmp(v[i].path, path) == 0))
            return &v[i];
    }
    return NULL;
}

static void merge(struct watch_disk *v, size_t *n, const struct watch_probe *p)
{
    struct watch_disk *d;
    char id[24] = "-"; /* until the first check */

    if (p->size == 0 && !*p->error)
        return;
    if (p->size > 0)
        (void)snprintf(id, sizeof(id), "%u:%u", major(p->device), minor(p->device));
    d = find(v, *n, id, p->root);
    if (!d) {
        d = &v[(*n)++];
        *d = (struct watch_disk){ .size = p->size, .free = p->free };
        (void)snprintf(d->id, sizeof(d->id), "%s", id);
        (void)snprintf(d->path, sizeof(d->path), "%s", p->root);
    }
    if (*p->error)
        (void)snprintf(d->error, sizeof(d->error), "%s", p->error);
    add_use(d->uses, sizeof(d->uses), p->uses);
}

static int64_t little(const struct watch_disk *d, int64_t floor)
{
    int64_t part = d->size / PART < PLENTY ? d->size / PART : PLENTY;

    return d->size >= floor * PART && floor * ABOVE_FLOOR > part ? floor * ABOVE_FLOOR : part;
}

static void judge(struct watch_disk *d, const struct watch_disk *before, int64_t floor)
{
    int64_t low = little(d, floor);
    bool was_low = before && (before->state == WATCH_LOW || before->state == WATCH_FULL);

    if (*d->error)
        d->state = WATCH_FAILING;
    else if (d->free == 0 || (d->size >= floor * PART && d->free < floor))
        d->state = WATCH_FULL;
    else if (d->free < low + (was_low ? low / MARGIN : 0))
        d->state = WATCH_LOW;
    d->since = before && before->state == d->state ? before->since : co_wall_ms();
}

static const char *bytes(int64_t n, char buf[24])
{
    if (n >= (int64_t)1 << 30)
        (void)snprintf(buf, 24, "%.1f GB", (double)n / (1 << 30));
    else
        (void)snprintf(buf, 24, "%.1f MB", (double)n / (1 << 20));
    return buf;
}

static void tell(const struct watch_disk *d, bool was_well)
{
    char left[24], all[24];

    (void)bytes(d->free, left);
    (void)bytes(d->size, all);
    if (d->state == WATCH_FAILING)
        log_warn("disk of %s (%s): %s; writes to it wait or are lost", d->path,
                 d->uses, d->error);
    else if (d->state == WATCH_FULL)
        log_warn("disk of %s (%s) is full: %s of %s left, recordings and segments stop (limits "
                 "disk_free); remove files", d->path, d->uses, left, all);
    else if (d->state == WATCH_LOW)
        log_warn("disk of %s (%s) is nearly full: %s of %s left; remove files, or set dvr_quota, "
                 "hls_quota or dash_quota", d->path, d->uses, left, all);
    else if (!was_well)
        log_trace("disk of %s (%s) has room again: %s of %s left", d->path, d->uses, left, all);
}

static void judge_all(struct watch *u)
{
    struct watch_disk *now = must(calloc(WATCH_DISKS, sizeof(*now)));
    int64_t floor = u->env->conf->limits.disk_free;
    size_t n = 0;

    for (size_t i = 0; i < u->n_probes; i++)
        merge(now, &n, u->probes[i]);
    for (size_t i = 0; i < n; i++) {
        const struct watch_disk *before = find(u->disks, u->n_disks, now[i].id, now[i].path);

        judge(&now[i], before, floor);
        if (!before || before->state != now[i].state)
            tell(&now[i], !before || before->state == WATCH_OK);
    }
    memcpy(u->disks, now, sizeof(u->disks));
    u->n_disks = n;
    free(now);
}

err_t watch_check_disks(struct watch *u)
{
    err_t err = NULL;

    want_all(u);
    for (size_t i = 0; i < u->n_probes && !err; i++)
        err = look(u->probes[i]);
    if (!err)
        judge_all(u);
    return err;
}

size_t watch_disks(const struct watch *u, const struct watch_disk **out)
{
    *out = u->disks;
    return u->n_disks;
}

const char *watch_disk_state_name(enum watch_disk_state state)
{
    static const char *const names[] = {
        [WATCH_OK] = "ok", [WATCH_LOW] = "low", [WATCH_FULL] = "full",
        [WATCH_FAILING] = "failing",
    };

    return names[state];
}
