/* SPDX-License-Identifier: MIT */
/* programs.c - what ingest, transcode and exec run: is it there, and has it the codecs? */
#include "app/doctor/plan.h"

#include "base/must.h"
#include "co/os/child.h"
#include "conf/arena.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAID_MAX = 256 * 1024, ASK_SECONDS = 10 };

/* ---- is it there */

static char *in_folder(struct doctor_plan *p, const char *folder, size_t size, const char *name)
{
    char *path = conf_arena_printf(p->arena, "%.*s/%s", (int)size, folder, name);

    return access(path, X_OK) == 0 ? path : NULL;
}

static char *in_path(struct doctor_plan *p, const char *name)
{
    const char *at = getenv("PATH");
    char *found = NULL;

    at = at && *at ? at : "/usr/local/bin:/usr/bin:/bin";
    while (!found) {
        size_t n = strcspn(at, ":");

        found = in_folder(p, at, n, name);
        if (!at[n])
            break;
        at += n + 1;
    }
    return found;
}

/* As those do who run it: an ffmpeg that is not where it should be is taken from PATH. */
static char *find(struct doctor_plan *p, const struct doctor_program *one)
{
    const char *slash = strrchr(one->path, '/');

    if (!slash)
        return in_path(p, one->path);
    if (access(one->path, X_OK) == 0)
        return one->path;
    return one->ffmpeg ? in_path(p, slash + 1) : NULL;
}

static void tell_another(struct doctor_plan *p, const struct doctor_program *one)
{
    if (!strchr(one->path, '/') || strcmp(one->path, one->found) == 0)
        return;
    doctor_add(&p->report, DOCTOR_WARN, "program", one->directive, "%s is not there, or may not be "
               "run: %s is used instead", one->path, one->found);
    doctor_advise(&p->report, "write which one it is: ffmpeg %s;", one->found);
}

void doctor_look_programs(struct doctor_plan *p)
{
    for (size_t i = 0; i < p->program_n; i++) {
        struct doctor_program *one = &p->program[i];

        one->found = find(p, one);
        if (one->found) {
            tell_another(p, one);
            if (!one->ffmpeg)
                doctor_add(&p->report, DOCTOR_OK, "program", one->directive, "%s", one->found);
            continue;
        }
        doctor_add(&p->report, DOCTOR_FAIL, "program", one->directive, "%s is not there, or may "
                   "not be run", one->path);
        if (one->ffmpeg)
            doctor_advise(&p->report, "apt install ffmpeg");
        else
            doctor_advise(&p->report, "write its whole path, or chmod +x it");
    }
}

/* ---- has it the codecs */

/* Lines are " V....D libx264   what it is". */
bool doctor_has_encoder(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
        const char *word = text + strspn(text, " ");

        if (!strchr("VAS", *word) || !*word)
            continue;
        word += strcspn(word, " \n");
        word += strspn(word, " ");
        if (strncmp(word, name, n) == 0 && (word[n] == ' ' || word[n] == '\n' || !word[n]))
            return true;
    }
    return false;
}

struct said {
    char *text;
    size_t size;
};

static void said(void *arg, const char *text, size_t size)
{
    struct said *s = arg;

    if (size > SAID_MAX - s->size)
        size = SAID_MAX - s->size;
    memcpy(s->text + s->size, text, size);
    s->size += size;
    s->text[s->size] = '\0';
}

static void tell(struct doctor_plan *p, const struct doctor_program *one, const char *text)
{
    bool all = true;

    for (size_t i = 0; i < one->codec_n; i++) {
        if (doctor_has_encoder(text, one->codecs[i]))
            continue;
        all = false;
        doctor_add(&p->report, DOCTOR_FAIL, "program", one->directive, "%s has no encoder %s",
                   one->found, one->codecs[i]);
        doctor_advise(&p->report, "another ffmpeg (%s -encoders tells), or vcodec libx264; acodec "
                      "aac;", one->found);
    }
    if (all)
        doctor_add(&p->report, DOCTOR_OK, "program", one->directive, "%s%s", one->found,
                   one->codec_n ? ", with the codecs it needs" : "");
}

/* An error is that it cannot be run, or that we were asked to stop. */
static err_t ask(const struct doctor_plan *p, const struct doctor_program *one, struct said *s,
                 bool *ended)
{
    const char *const argv[] = { one->found, "-hide_banner", "-encoders", NULL };
    const struct co_child_setup setup = { .argv = argv, .env = (const char *const *)p->env,
                                          .said = said, .arg = s };
    struct co_child *child;
    err_t err = co_child_start(&child, &setup);

    if (err)
        return err;
    err = co_child_wait(child, CO_SECONDS(ASK_SECONDS), ended);
    co_child_end(child, 0, NULL, 0);
    return err;
}

static err_t ask_one(struct doctor_plan *p, const struct doctor_program *one)
{
    struct said s = { .text = must(calloc(1, SAID_MAX + 1)) };
    bool ended = false;
    err_t err;

    err = ask(p, one, &s, &ended);
    if (!co_stop_asked())
        err_free(&err);
    if (!err && (!ended || !strstr(s.text, "Encoders:"))) {
        doctor_add(&p->report, DOCTOR_FAIL, "program", one->directive, "%s does not answer as "
                   "ffmpeg does", one->found);
        doctor_advise(&p->report, "try it: %s -hide_banner -encoders", one->found);
    } else if (!err) {
        tell(p, one, s.text);
    }
    free(s.text);
    return err;
}

err_t doctor_ask_ffmpeg(struct doctor_plan *p)
{
    err_t err = NULL;

    for (size_t i = 0; i < p->program_n && !err; i++) {
        if (p->program[i].ffmpeg && p->program[i].found)
            err = ask_one(p, &p->program[i]);
    }
    return err;
}
