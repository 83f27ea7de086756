/* SPDX-License-Identifier: MIT */
/* server.c - a server in memory for targets that send to one. */
#include "base/log.h"
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 16 * 1024 };

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

/* Regardless of a peer's input, a line is one line. */
static void check_line(enum log_level level, const char *line, size_t size)
{
    (void)level;
    assert(size > 1 && size <= LINE_MOST && line[size - 1] == '\n');
    for (size_t i = 0; i < size - 1; i++)
        assert((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
}

void fuzz_serve(struct session_env *env, const char *conf)
{
    const struct log_setup checked = { .min = LOG_TRACE, .utc = true, .cid = co_cid,
                                       .write = check_line };
    const struct log_rules rules = { .secrets = false };
    err_t err = co_init();

    assert(!err);
    log_init(&checked);
    log_rule(&rules);
    *env = (struct session_env){ .conf = fuzz_conf(conf), .generation = 1, .signature = "us",
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
