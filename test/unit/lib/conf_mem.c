/* SPDX-License-Identifier: MIT */
/* conf_mem.c - configurations from memory: files, environment, and the resulting warnings. */
#include "conf_mem.h"

err_t mem_read(void *arg, const char *path, char **text, size_t *size)
{
    const struct mem *m = arg;
    const char *found = strcmp(path, "main") == 0 ? m->main : NULL;

    for (const struct mem_pair *f = m->files; f && f->name && !found; f++) {
        if (strcmp(f->name, path) == 0)
            found = f->text;
    }
    if (!found)
        return err_new(ERR_CONF, "no file %s", path);
    *size = found == m->main && m->main_size ? m->main_size : strlen(found);
    *text = malloc(*size ? *size : 1); /* no terminating zero, so that a sanitizer detects over-reads */
    assert_non_null(*text);
    memcpy(*text, found, *size);
    return NULL;
}

const char *mem_getenv(void *arg, const char *name)
{
    const struct mem *m = arg;

    for (const struct mem_pair *e = m->env; e && e->name; e++) {
        if (strcmp(e->name, name) == 0)
            return e->text;
    }
    return NULL;
}

void mem_warn(void *arg, const char *text)
{
    struct mem *m = arg;
    size_t used = strlen(m->warnings);

    m->n_warnings++;
    (void)snprintf(m->warnings + used, sizeof(m->warnings) - used, "%s\n", text);
}

struct conf_source mem_source(struct mem *m)
{
    return (struct conf_source){
        .path = m->main ? "main" : NULL, .read = mem_read, .getenv = mem_getenv, .arg = m,
    };
}

err_t mem_load(struct conf **out, struct mem *m)
{
    const struct conf_source src = mem_source(m);
    const struct conf_report report = { .warn = mem_warn, .arg = m };

    m->n_warnings = 0;
    m->warnings[0] = '\0';
    return conf_load(out, &src, &report);
}

struct conf *mem_conf(const char *text)
{
    struct mem m = { .main = text };
    struct conf *c = NULL;

    assert_ok(mem_load(&c, &m));
    assert_non_null(c);
    return c;
}

void assert_err_says(err_t err, enum err_code code, const char *words)
{
    char text[1024];

    (void)err_text(err, text, sizeof(text));
    if (err_code(err) != code || !strstr(text, words))
        fail_msg("wanted %d and \"%s\", got: %s", (int)code, words, text);
    err_free(&err);
}

void mem_assert_bad(const struct mem_bad *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct mem m = { .main = rows[i].text };
        struct conf *c = NULL;

        assert_err_says(mem_load(&c, &m), ERR_CONF, rows[i].says);
        assert_null(c);
    }
    assert_int_equal(conf_live(), 0);
}

void mem_assert_warned(const struct mem_warned *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct mem m = { .main = rows[i].text };
        struct conf *c = NULL;

        assert_ok(mem_load(&c, &m));
        if (rows[i].warning ? !strstr(m.warnings, rows[i].warning) : m.n_warnings > 0)
            fail_msg("%s: wanted \"%s\", got: %s", rows[i].text,
                     rows[i].warning ? rows[i].warning : "", m.warnings);
        conf_unref(c);
    }
}

void mem_assert_environment(const struct mem_variable *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct mem_pair env[] = { { rows[i].name, rows[i].value }, { NULL, NULL } };
        struct mem m = { .main = "listen 1935; daemon off; vhost v { }", .env = env };
        struct conf *c = NULL, *same;
        char text[512];

        (void)snprintf(text, sizeof(text), "%s%s", rows[i].same,
                       strstr(rows[i].same, "vhost") ? "" : "vhost v { }");
        same = mem_conf(text);
        assert_ok(mem_load(&c, &m));
        if (conf_diff(c, same, NULL) != 0)
            fail_msg("%s is not as: %s", rows[i].name, text);
        conf_unref(c);
        conf_unref(same);
    }
}

static void mem_collect_change(void *arg, const struct conf_change *change)
{
    static const char *const classes[] = { "never", "once", "handler" };
    char *buf = arg;
    size_t used = strlen(buf);

    (void)snprintf(buf + used, 1024 - used, "%s:%s %s>%s\n", change->path,
                   classes[change->reload], change->old_text, change->new_text);
}

void mem_assert_reloads(const struct mem_reload *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct conf *old = mem_conf(rows[i].old), *new = mem_conf(rows[i].new);
        char told[1024] = "";
        const struct conf_changes to = { .change = mem_collect_change, .arg = told };

        (void)conf_diff(old, new, &to);
        assert_string_equal(told, rows[i].told);
        conf_unref(old);
        conf_unref(new);
    }
    assert_int_equal(conf_live(), 0);
}
