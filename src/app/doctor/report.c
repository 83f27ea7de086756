/* SPDX-License-Identifier: MIT */
/* report.c - prints the rows of the report as text and as JSON. */
#include "app/doctor/doctor.h"
#include "base/must.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 30 };

static const char *const states[DOCTOR_STATES] = { "ok", "warn", "fail" };
static const char *const colour[DOCTOR_STATES] = { "\033[32m", "\033[33m", "\033[31;1m" };

void doctor_add(struct doctor_report *r, enum doctor_state state, const char *check,
                const char *subject, const char *text, ...)
{
    struct doctor_row *row;
    va_list args;

    r->v = must(realloc(r->v, (r->n + 1) * sizeof(*r->v)));
    row = &r->v[r->n++];
    *row = (struct doctor_row){ state, check, must_dup(subject), NULL, must_dup("") };
    r->count[state]++;
    va_start(args, text);
    row->text = must_vprint(text, args);
    va_end(args);
}

__attribute__((format(printf, 2, 0)))
static void advise(struct doctor_row *row, const char *text, va_list args)
{
    free(row->advice);
    row->advice = must_vprint(text, args);
}

void doctor_advise(struct doctor_report *r, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    if (r->v[r->n - 1].state != DOCTOR_OK)
        advise(&r->v[r->n - 1], text, args);
    va_end(args);
}

void doctor_hint(struct doctor_report *r, const char *text, ...)
{
    va_list args;

    va_start(args, text);
    advise(&r->v[r->n - 1], text, args);
    va_end(args);
}

void doctor_report_move(struct doctor_report *to, struct doctor_report *from)
{
    to->v = must(realloc(to->v, (to->n + from->n + 1) * sizeof(*to->v)));
    memcpy(to->v + to->n, from->v, from->n * sizeof(*to->v));
    to->n += from->n;
    for (int i = 0; i < DOCTOR_STATES; i++)
        to->count[i] += from->count[i];
    from->n = 0;
}

void doctor_report_free(struct doctor_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->v[i].subject);
        free(r->v[i].text);
        free(r->v[i].advice);
    }
    free(r->v);
    *r = (struct doctor_report){ 0 };
}

/* ---- text */

static void print_row(const struct doctor_row *row, FILE *to, bool colours)
{
    char name[128];

    (void)snprintf(name, sizeof(name), "%s%s%s", row->check, *row->subject ? " " : "",
                   row->subject);
    (void)fprintf(to, "%s%-4s%s  %-*s  %s\n", colours ? colour[row->state] : "",
                  states[row->state], colours ? "\033[0m" : "", NAME_WIDTH, name, row->text);
    if (*row->advice)
        (void)fprintf(to, "      %-*s  -> %s\n", NAME_WIDTH, "", row->advice);
}

void doctor_print(const struct doctor_report *r, FILE *to, bool colours)
{
    for (size_t i = 0; i < r->n; i++)
        print_row(&r->v[i], to, colours);
    (void)fprintf(to, "ok: %u, warnings: %u, failures: %u\n", r->count[DOCTOR_OK],
                  r->count[DOCTOR_WARN], r->count[DOCTOR_FAIL]);
}

/* ---- JSON */

void doctor_put(const struct doctor_report *r, struct jput *j)
{
    jput_uint(j, "ok", r->count[DOCTOR_OK]);
    jput_uint(j, "warnings", r->count[DOCTOR_WARN]);
    jput_uint(j, "failures", r->count[DOCTOR_FAIL]);
    jput_open(j, "checks", '[');
    for (size_t i = 0; i < r->n; i++) {
        const struct doctor_row *row = &r->v[i];

        jput_open(j, NULL, '{');
        jput_text(j, "check", row->check);
        jput_text(j, "subject", row->subject);
        jput_text(j, "state", states[row->state]);
        jput_text(j, "text", row->text);
        jput_text(j, "advice", row->advice);
        jput_close(j, '}');
    }
    jput_close(j, ']');
}
