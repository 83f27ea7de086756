/* SPDX-License-Identifier: MIT */
/* test_conf_generated.c - conf/full.conf and doc/config.md match the tables.
 *
 * With REGENERATE=1 in the environment it writes the files. Run from the top folder.
 */
#include "conf/conf.h"
#include "conf_doc.h"
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20 };

static const struct {
    const char *path;
    void (*write)(struct wr *w);
} files[] = {
    { "conf/full.conf", conf_doc_full },
    { "doc/config.md", conf_doc_markdown },
};

static void write_file(const char *path, const struct wr *w)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(w->buf, 1, w->len, f), w->len);
    assert_int_equal(fclose(f), 0);
}

static void files_are_fresh(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char *text = NULL;
        size_t size = 0;
        struct wr w;

        wr_init(&w, LIMIT);
        files[i].write(&w);
        assert_ok(wr_err(&w, files[i].path));
        if (getenv("REGENERATE"))
            write_file(files[i].path, &w);
        assert_ok(conf_read_file(NULL, files[i].path, &text, &size));
        if (size != w.len || memcmp(text, w.buf, size) != 0)
            fail_msg("%s is stale: run this test with REGENERATE=1", files[i].path);
        free(text);
        wr_free(&w);
    }
}

static const char *no_env(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return NULL;
}

/* The file loads; only is_full rejects it. */
static void full_conf_loads(void **state)
{
    struct conf_source src = { .path = "conf/full.conf", .getenv = no_env };
    struct conf *c = NULL;

    (void)state;
    assert_err(conf_load(&c, &src, NULL), ERR_CONF);
    assert_null(c);
    src.allow_full = true;
    assert_ok(conf_load(&c, &src, NULL));
    assert_int_equal(c->vhost.n, 1);
    assert_true(c->is_full);
    conf_unref(c);
    assert_int_equal(conf_live(), 0);
}

static void count_warning(void *arg, const char *text)
{
    print_error("%s\n", text);
    ++*(size_t *)arg;
}

/* The sample configurations load without warnings. */
static void examples_load(void **state)
{
    struct dirent *e;
    DIR *dir = opendir("conf");
    size_t seen = 0;

    (void)state;
    assert_non_null(dir);
    while ((e = readdir(dir))) {
        char path[512];
        size_t warnings = 0;
        struct conf_source src = { .path = path, .getenv = no_env };
        const struct conf_report report = { .warn = count_warning, .arg = &warnings };
        struct conf *c = NULL;

        (void)snprintf(path, sizeof(path), "conf/%s", e->d_name);
        if (strlen(path) < 5 || strcmp(path + strlen(path) - 5, ".conf") != 0 ||
            strcmp(e->d_name, "full.conf") == 0 || strcmp(e->d_name, "include.vhost.conf") == 0 ||
            strcmp(e->d_name, "edge.conf") == 0)
            continue; /* a reference, a part of another file, and one for a missing feature */
        assert_ok(conf_load(&c, &src, &report));
        assert_int_equal(warnings, 0);
        assert_non_null(conf_vhost_find(c, "any"));
        conf_unref(c);
        seen++;
    }
    closedir(dir);
    assert_true(seen >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_fresh),
        TEST(full_conf_loads),
        TEST(examples_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
