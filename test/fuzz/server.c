/* SPDX-License-Identifier: MIT */
/* server.c - a server in memory, for targets that talk to one. */
#include "fuzz.h"

#include "base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *no_env(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return NULL;
}

static err_t read_text(void *arg, const char *path, char **text, size_t *size)
{
    (void)path;
    *text = strdup(arg);
    assert(*text);
    *size = strlen(*text);
    return NULL;
}

struct conf *fuzz_conf(const char *text)
{
    struct conf_source src = { .path = "fuzz.conf", .read = read_text, .getenv = no_env,
                               .arg = (void *)(uintptr_t)text };
    struct conf *conf = NULL;
    err_t err = conf_load(&conf, &src, NULL);

    assert(!err);
    return conf;
}

void fuzz_serve(struct serve *serve, const char *conf)
{
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    *serve = (struct serve){ .conf = fuzz_conf(conf), .generation = 1, .signature = "us",
                             .version = "1", .server_id = "vid-1", .service_id = "run",
                             .streams = live_registry_new() };
}

err_t fuzz_run(co_fn *fn, void *arg)
{
    struct co_group g;
    err_t err;

    co_group_init(&g);
    err = co_go(&g, "fuzz", fn, arg);
    return err ? err : co_group_wait(&g);
}

uint8_t *fuzz_shake_hands(const uint8_t *data, size_t size)
{
    uint8_t *in = calloc(1, FUZZ_HANDSHAKE + size);

    assert(in);
    in[0] = 3;
    memcpy(in + FUZZ_HANDSHAKE, data, size);
    return in;
}
