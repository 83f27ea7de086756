/* SPDX-License-Identifier: MIT */
/* fuzz_env.c - any environment (lines of NAME=value) over a file, without one, and as a reload. */
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 400 }; /* each is checked for each directive */

struct environment {
    char *text;   /* lines; the sign behind each name and each value is zero */
    const char **names;
    size_t n;
};

static err_t read_file(void *arg, const char *path, char **text, size_t *size)
{
    static const char conf[] = "listen $SRS_LISTEN; http_api { enabled on; listen 80; }"
                               "vhost __defaultVhost__ { hls { enabled on; } }";

    (void)arg;
    (void)path;
    *text = strdup(conf);
    *size = sizeof(conf) - 1;
    return NULL;
}

static const char *get(void *arg, const char *name)
{
    const struct environment *e = arg;

    for (size_t i = 0; i < e->n; i++) {
        if (strcmp(e->names[i], name) == 0)
            return name[0] ? e->names[i] + strlen(name) + 1 : NULL;
    }
    return NULL;
}

static void take_apart(struct environment *e, const uint8_t *data, size_t size)
{
    char *end;

    *e = (struct environment){ .text = malloc(size + 1) };
    assert(e->text);
    memcpy(e->text, data, size);
    e->text[size] = '\0';
    e->names = calloc(NAMES_MOST, sizeof(*e->names));
    assert(e->names);
    for (char *line = e->text; line < e->text + size && e->n < NAMES_MOST; line = end + 1) {
        char *value;

        end = line + strcspn(line, "\n");
        *end = '\0';
        value = strchr(line, '=');
        if (!value)
            continue;
        *value = '\0';
        e->names[e->n++] = line;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct environment e;
    struct conf_source src = { .getenv = get, .arg = &e, .allow_full = true };
    struct conf *alone = NULL, *over = NULL, *next = NULL;
    err_t err;

    take_apart(&e, data, size);
    err = conf_load(&alone, &src, NULL);
    assert(!err == (alone != NULL));
    err_free(&err);
    src.path = "main";
    src.read = read_file;
    err = conf_load(&over, &src, NULL);
    assert(!err == (over != NULL));
    err_free(&err);
    if (over) { /* the same once more is no change */
        err = conf_reload(&next, over, &src, NULL, NULL);
        assert(!err && conf_diff(over, next, NULL) == 0);
    }
    conf_unref(alone);
    conf_unref(over);
    conf_unref(next);
    free(e.names);
    free(e.text);
    assert(conf_live() == 0 && err_live() == 0);
    return 0;
}
