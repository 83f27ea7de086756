/* SPDX-License-Identifier: MIT */
/* job_plain.c - checks names chosen by clients before they are used in a command line. */
#include "sink/program/job_plain.h"

#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool is_plain_byte(char c, const char *more)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._-", c)) || (c && strchr(more, c));
}

/* Returns the size of a non-ASCII character, or 0 if it is invalid or a control character (U+0080
 * to U+009F). */
static size_t letter_size(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t n = *u < 0x80 ? 0 : utf8_size(u, strlen(p));

    return n == 2 && u[0] == 0xc2 && u[1] < 0xa0 ? 0 : n;
}

/* Accepts names separated by slashes; none may begin like an option, a hidden file or "..". ffmpeg
 * is not a shell, so it may get non-ASCII letters. */
static bool is_plain_name(const char *value, bool for_ffmpeg)
{
    bool begins = true;

    for (const char *p = value; *p;) {
        size_t n = is_plain_byte(*p, "/") ? 1 : for_ffmpeg ? letter_size(p) : 0;

        if (n == 0 || (begins && strchr("/.-", *p)))
            return false;
        begins = *p == '/';
        p += n;
    }
    return !*value || !begins;
}

/* Accepts "?name=value", and several of them only where '&' is not an operator. */
static bool is_plain_query(const char *value, bool for_ffmpeg)
{
    const char *p = value;

    if (*p == '?')
        p++;
    while (is_plain_byte(*p, for_ffmpeg ? "=&%+~" : "="))
        p++;
    return !*value || (*value == '?' && !*p);
}

static bool is_plain(const struct job_spec *w, const struct job_var *v);

/* The beginning of the URL is the server's; checks the parts from the client. */
static bool is_plain_url(const struct job_spec *w, const struct job_var *url)
{
    for (size_t i = 0; i < w->n_vars; i++) {
        const struct job_var *v = &w->vars[i];
        bool part = v->from == JOB_VAR_NAME || v->from == JOB_VAR_QUERY;

        if (part && !is_plain(w, v))
            return false;
    }
    return w->kind == JOB_TRANSCODE || !strchr(url->value, '&');
}

static bool is_plain(const struct job_spec *w, const struct job_var *v)
{
    bool for_ffmpeg = w->kind == JOB_TRANSCODE;

    switch (v->from) {
    case JOB_VAR_OURS:
        return true;
    case JOB_VAR_QUERY:
        return is_plain_query(v->value, for_ffmpeg);
    case JOB_VAR_URL:
        return is_plain_url(w, v);
    case JOB_VAR_NAME:
    case JOB_VAR_TEXT:
        break;
    }
    return is_plain_name(v->value, for_ffmpeg);
}

/* ---- positions in the command line */

/* Refuses values that no program may get: with a line break, a program that reads lines would see
 * two; with a space in a URL, an ffmpeg with librtmp reads options. */
static bool is_bad(const struct job_spec *w, const char *value)
{
    unsigned char first_good = w->kind == JOB_TRANSCODE ? ' ' + 1 : ' ';

    while ((unsigned char)*value >= first_good && *value != 0x7f)
        value++;
    return *value != '\0';
}

static bool has_up(const char *value)
{
    for (const char *p = strstr(value, ".."); p; p = strstr(p + 1, "..")) {
        if ((p == value || p[-1] == '/') && (p[2] == '/' || !p[2]))
            return true;
    }
    return false;
}

/* Returns true if the argument after this option is code for common interpreters (sh -c, bash -lc,
 * env -S, perl -e, php -r) or an input to open (-i). */
static bool wants_plain(const char *option, const struct job_var *v)
{
    static const char *const names[] = { "--command", "--eval", "--exec", "--split-string" };
    size_t n = strlen(option);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(option, names[i], strlen(names[i])) == 0)
            return true;
    }
    if (n < 2 || option[0] != '-' || option[1] == '-')
        return false;
    return strchr(v->from == JOB_VAR_URL ? "cerES" : "cerESi", option[n - 1]) != NULL;
}

static bool is_alone(const char *word, const struct job_var *v)
{
    size_t n = strlen(v->name);

    return word[0] == '[' && strncmp(word + 1, v->name, n) == 0 && strcmp(word + 1 + n, "]") == 0;
}

static bool is_in(const char *word, const struct job_var *v)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "[%s]", v->name);
    return strstr(word, name) != NULL;
}

static bool fits_argument(const struct job_spec *w, size_t i, const struct job_var *v)
{
    const char *word = w->args[i].text;

    if (!w->args[i].vars || !is_in(word, v) || is_plain(w, v))
        return true;
    return w->kind == JOB_EXEC && i > 0 && is_alone(word, v) && v->value[0] != '-' &&
           !has_up(v->value) && !wants_plain(w->args[i - 1].text, v);
}

static bool fits_file(const struct job_spec *w, const char *file, const struct job_var *v)
{
    return !file || !is_in(file, v) || is_plain(w, v);
}

/* Returns the word in which the value is not allowed, or NULL. */
static const char *misfit_word(const struct job_spec *w, const struct job_var *v)
{
    if (is_bad(w, v->value))
        return "";
    for (size_t i = 0; i < w->n; i++) {
        if (!fits_argument(w, i, v))
            return w->args[i].text;
    }
    if (!fits_file(w, w->out, v))
        return w->out;
    return fits_file(w, w->err, v) ? NULL : w->err;
}

/* Returns false and the reason in *out if the program must not be started. */
static bool job_spec_fits(const struct job_spec *w, struct job_misfit *out)
{
    for (size_t i = 0; i < w->n_vars; i++) {
        const struct job_var *v = &w->vars[i];
        const char *word = v->from == JOB_VAR_OURS ? NULL : misfit_word(w, v);

        if (word) {
            *out = (struct job_misfit){ v, word };
            return false;
        }
    }
    return true;
}

/* Returns advice for the operator. */
static const char *advice(const struct job_spec *w, const char *word)
{
    if (!*word)
        return w->kind == JOB_EXEC ? "no program gets control characters"
                                   : "ffmpeg gets no spaces or control characters";
    if (w->kind == JOB_EXEC)
        return "only a plain name (letters, digits, . _ - /) is taken there; any value goes as a "
               "word of its own that is no option's, or by the environment: $SRS_STREAM, ...";
    return "only a plain name (letters, digits, . _ - /) is taken there";
}

void job_specs_add_fitting(struct job_specs *all, struct job_spec *w)
{
    struct job_misfit bad;
    const char *value;

    if (job_spec_fits(w, &bad)) {
        job_specs_add(all, w);
        return;
    }
    /* other values may contain secrets */
    value = bad.var->from == JOB_VAR_NAME ? bad.var->value : "...";
    log_warn("%s %s of %s is not started: [%s] is \"%.100s\"%s%.100s%s: %s",
             job_kind_name(w->kind), w->name, w->stream, bad.var->name, value,
             *bad.word ? " in \"" : "", bad.word, *bad.word ? "\"" : "", advice(w, bad.word));
    job_spec_free(w);
}
