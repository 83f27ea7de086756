/* SPDX-License-Identifier: MIT */
/* start.c - the start of the process, before the server exists. */
#include "app/start.h"

#include "app/log/file.h"
#include "app/os/file_read.h"
#include "app/services.h"
#include "app/version.h"
#include "base/log.h"
#include "base/must.h"
#include "config.h"

#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_FILES = 1 << 20 }; /* containers may allow a thousand times more */

/* Raises the limit of file descriptors as far as allowed and returns it. */
static long raise_files(void)
{
    struct rlimit r;
    rlim_t want;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return 0;
    want = r.rlim_max < MOST_FILES ? r.rlim_max : MOST_FILES;
    if (r.rlim_cur < want) {
        rlim_t old = r.rlim_cur;

        r.rlim_cur = want;
        if (setrlimit(RLIMIT_NOFILE, &r) < 0)
            r.rlim_cur = old;
    }
    return r.rlim_cur < LONG_MAX ? (long)r.rlim_cur : LONG_MAX;
}

static int count_interfaces(void)
{
    struct if_nameindex *list = if_nameindex();
    int n = 0;

    while (list && list[n].if_index)
        n++;
    if_freenameindex(list);
    return n;
}

/* Returns the path as an absolute one. It does not resolve links, because a mounted configuration
 * changes by pointing them elsewhere. */
static char *absolute(const char *folder, const char *path)
{
    return path[0] == '/' ? must_dup(path) : must_print("%s/%s", folder, path);
}

err_t start_begin(struct start *s, const struct options *o)
{
    *s = (struct start){ 0 };
    if (!o->conf && !o->env_only)
        return err_new(ERR_CONF, "no configuration file: give one with -c");
    s->folder = getcwd(NULL, 0);
    if (!s->folder)
        return err_sys(ERR_SYSTEM, "find the folder we are in");
    if (!o->env_only)
        s->path = absolute(s->folder, o->conf);
    s->src = (struct conf_source){
        .path = s->path,
        .max_files = raise_files(),
        .interfaces = count_interfaces(),
        .folder = s->folder,
    };
    return NULL;
}

static void forget(struct start *s)
{
    for (size_t i = 0; i < s->odd_count; i++)
        free(s->odd[i]);
    free(s->odd);
    s->odd = NULL;
    s->odd_count = 0;
}

void start_end(struct start *s)
{
    forget(s);
    free(s->path);
    free(s->folder);
    s->path = s->folder = NULL;
}

void start_read_by_thread(struct start *s)
{
    s->src.read = file_read;
    s->src.arg = s->folder;
}

static void on_warning(void *arg, const char *text)
{
    struct start *s = arg;

    s->odd = must(realloc(s->odd, (s->odd_count + 1) * sizeof(*s->odd)));
    s->odd[s->odd_count++] = must_dup(text);
}

void start_warn(struct start *s, const char *fmt, ...)
{
    char text[PATH_MAX + 256];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    on_warning(s, text);
}

err_t start_load(struct start *s, struct conf **out)
{
    const struct conf_report report = { on_warning, s };
    err_t err = conf_load(out, &s->src, &report);

    if (!err)
        err = services_tls_check(*out);
    if (err)
        *out = conf_unref(*out);
    else if (BUILD_GPROF && (*out)->workers != 1)
        start_warn(s, "workers: one, as gprof samples one thread");
    return err;
}

const char *start_error_text(err_t err, char *buf, size_t size)
{
    enum err_code code = err_code(err);
    const char *prefix = "srs: ";
    size_t n = strlen(prefix);

    if (code == ERR_CONF || code == ERR_CONF_SYNTAX)
        return err_facts(err, buf, size);
    (void)snprintf(buf, size, "%s", prefix);
    (void)err_text(err, buf + n, size - n);
    return buf;
}

static void log_banner(const struct start *s, const struct conf *c)
{
    log_trace("%s, configured %s by %s", VERSION_SIGNATURE, version_built(),
              version_configured());
    log_trace("config %s, work_dir %s, pid file %s, log %s", s->path ? s->path : "environment",
              c->work_dir, c->pid,
              c->srs_log_tank == CONF_TANK_FILE ? c->srs_log_file : "console");
    log_trace("up to %d connections, up to %ld descriptors", c->max_connections,
              s->src.max_files);
}

err_t start_log(struct start *s, const struct conf *c)
{
    if (*c->work_dir && chdir(c->work_dir) < 0)
        return err_sys(ERR_SYSTEM, "change to work_dir %s", c->work_dir);
    log_file_open(c);
    log_banner(s, c);
    for (size_t i = 0; i < s->odd_count; i++)
        log_warn("config: %s", s->odd[i]);
    forget(s);
    return NULL;
}
