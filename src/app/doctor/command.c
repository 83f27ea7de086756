/* SPDX-License-Identifier: MIT */
/* command.c - `srs -c FILE --doctor`. */
#include "app/doctor/command.h"

#include "app/doctor/doctor.h"
#include "app/start.h"
#include "co/co.h"
#include "co/thread.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HELPERS_MS = 500 };

static const char *name_of(const struct start *s)
{
    return s->path ? s->path : "environment";
}

static void put_warnings(struct doctor_report *r, const struct start *s)
{
    for (size_t i = 0; i < s->odd_count; i++)
        doctor_add(r, DOCTOR_WARN, "configuration", "", "%s", s->odd[i]);
}

static void put_failure(struct doctor_report *r, const struct options *o, err_t err)
{
    char text[1024];

    doctor_add(r, DOCTOR_FAIL, "configuration", "", "%s", err_text(err, text, sizeof(text)));
    doctor_advise(r, "conf/full.conf and doc/config.md list every directive");
    if (!o->conf && !o->env_only)
        doctor_advise(r, "srs -c conf/srs.conf --doctor");
}

/* Runs the checks after the file was read. */
static err_t check(struct doctor_report *r, const struct start *s, struct conf *c)
{
    doctor_add(r, DOCTOR_OK, "configuration", "", "%s, vhosts: %zu", name_of(s), c->vhost.n);
    if (geteuid() == 0)
        doctor_hint(r, "run it as the server's user, too: root passes every permission check");
    if (*c->work_dir && chdir(c->work_dir) < 0) {
        doctor_add(r, DOCTOR_FAIL, "path", "work_dir", "%s: cannot change to it", c->work_dir);
        doctor_advise(r, "mkdir -p %s", c->work_dir);
        return NULL;
    }
    return doctor_run(r, c, &(struct doctor_how){ .serving = false });
}

int doctor_command(const struct options *o)
{
    struct doctor_report r = { 0 };
    struct conf *c = NULL;
    struct start s;
    int failed;
    err_t err;

    err = start_begin(&s, o);
    s.src.max_files = 0; /* the doctor checks it itself */
    if (!err)
        err = start_load(&s, &c);
    put_warnings(&r, &s);
    if (!err)
        err = co_init();
    if (!err)
        err = check(&r, &s, c);
    if (err)
        put_failure(&r, o, err);
    err_free(&err);
    doctor_print(&r, stdout, isatty(STDOUT_FILENO));
    failed = r.count[DOCTOR_FAIL] > 0;
    doctor_report_free(&r);
    conf_unref(c);
    start_end(&s);
    co_threads_end(CO_MS(HELPERS_MS));
    return failed;
}
