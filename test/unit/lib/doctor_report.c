/* SPDX-License-Identifier: MIT */
/* doctor_report.c - shared by tests of the doctor: a fake /proc, its report. */
#include "doctor_report.h"

#include "conf/arena.h"

void dir_put(const char *path, const char *text)
{
    char cmd[600], whole[512];
    FILE *f;

    (void)snprintf(whole, sizeof(whole), "%s%s", dir, path);
    (void)snprintf(cmd, sizeof(cmd), "mkdir -p $(dirname %s)", whole);
    assert_int_equal(system(cmd), 0);
    f = fopen(whole, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

const struct doctor_row *report_find(const struct doctor_report *r, const char *check,
                                     const char *subject)
{
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->v[i].check, check) == 0 && strcmp(r->v[i].subject, subject) == 0)
            return &r->v[i];
    }
    return NULL;
}

void assert_report_row(const struct doctor_report *r, const char *check, const char *subject,
                       int state, const char *words)
{
    const struct doctor_row *row = report_find(r, check, subject);

    if (!row)
        fail_msg("no row %s %s", check, subject);
    if ((int)row->state != state || !strstr(row->text, words) ||
        (state != DOCTOR_OK && !*row->advice))
        fail_msg("%s %s: %d \"%s\" -> \"%s\", wanted %d \"%s\"", check, subject, row->state,
                 row->text, row->advice, state, words);
}

struct doctor_plan *plan_new(void)
{
    struct doctor_plan *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->root = dir;
    p->connections = 1000;
    p->core_dump = true;
    p->arena = conf_arena_new();
    p->pid_file = "/nowhere";
    return p;
}
