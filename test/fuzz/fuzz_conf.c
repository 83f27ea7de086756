/* SPDX-License-Identifier: MIT */
/* fuzz_conf.c - any text as a configuration, and as a reload of a running one. */
#include "conf/conf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

/* Each included file is the input again, which tests loops, too. */
static err_t read_input(void *arg, const char *path, char **text, size_t *size)
{
    const struct input *in = arg;

    (void)path;
    *text = malloc(in->size ? in->size : 1);
    assert(*text);
    if (in->size)
        memcpy(*text, in->data, in->size);
    *size = in->size;
    return NULL;
}

static const char *no_env(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "CANDIDATE") == 0 ? "127.0.0.1" : NULL;
}

static err_t read_base(void *arg, const char *path, char **text, size_t *size)
{
    static const char base[] = "listen 1935; daemon off; http_api { listen 80; }"
                               "stream_caster { output x; } vhost a { cluster { origin x; } }";

    (void)arg;
    (void)path;
    *text = malloc(sizeof(base));
    assert(*text);
    memcpy(*text, base, sizeof(base));
    *size = sizeof(base) - 1;
    return NULL;
}

static void hear(void *arg, const char *text)
{
    size_t *bytes = arg;

    *bytes += strlen(text);
}

static void on_change(void *arg, const struct conf_change *change)
{
    size_t *bytes = arg;

    *bytes += strlen(change->path) + strlen(change->old_text) + strlen(change->new_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { .data = data, .size = size };
    struct conf_source src = { .path = "main", .read = read_input, .getenv = no_env, .arg = &in,
                               .allow_full = true };
    const struct conf_source base = { .path = "base", .read = read_base, .getenv = no_env };
    size_t bytes = 0;
    const struct conf_report report = { .warn = hear, .arg = &bytes };
    const struct conf_changes changes = { .change = on_change, .arg = &bytes };
    struct conf *old = NULL, *new = NULL;
    err_t err = conf_load(&old, &base, NULL);

    assert(!err);
    err = conf_reload(&new, old, &src, &report, &changes);
    assert(!err == (new != NULL));
    err_free(&err);
    conf_unref(old);
    if (new) /* it is independent of the old one */
        assert(conf_diff(new, new, NULL) == 0);
    conf_unref(new);
    assert(conf_live() == 0 && err_live() == 0);
    return 0;
}
