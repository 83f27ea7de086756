/* SPDX-License-Identifier: MIT */
/* sb_srt_load.c - many SRT players that look at all they get, or publishers, over one socket. */
#include "tools/load/srt_hub.h"

#include "base/must.h"

#include <stdio.h>

#define LOOK CO_SECONDS(1)

static struct load_srt_file file;
static struct srt_secret secret;

static err_t join(struct load_client *c, const struct load_url *url, const char *bind_ip,
                  co_usec timeout)
{
    struct srt_url *place = must(malloc(sizeof(*place)));
    struct load_peer *p = NULL;
    err_t err = NULL;

    (void)timeout;
    c->asked = co_clock();
    if (!srt_url_parse(place, url->tc_url) || place->listener)
        err = err_new(ERR_CONF, "%s: no address of a listener of SRT", url->tc_url);
    if (!err)
        err = load_hub_join(&p, c, place, bind_ip);
    free(place);
    c->mine = p;
    return err;
}

static err_t session(struct load_client *c, const struct load_url *url)
{
    struct load_peer *p = c->mine;
    struct load_stat *s = &c->run->stat;
    err_t err = NULL;

    (void)url;
    load_hist_add(&s->srt.latency, p->source ? p->conn.agreed.send_latency
                                             : p->conn.agreed.recv_latency);
    c->alive = true;
    if (p->source)
        c->mark_at = co_clock();
    co_stack_trim();
    while (!err && !load_is_over(c)) {
        err = load_hub_stay(p, load_left(c, LOOK));
        if (!err)
            err = co_check();
    }
    load_hub_leave(p);
    c->mine = NULL;
    return err;
}

/* One key for all of them: what that costs is no business of the server's. */
static err_t make_secret(const struct load_opts *o, const char *url_text)
{
    struct srt_url url;
    char text[LOAD_URL_SIZE];
    const char *passphrase;
    unsigned size;
    err_t err = load_url_expand(text, sizeof(text), url_text, 0);

    if (err)
        return err;
    if (!srt_url_parse(&url, text))
        return err_new(ERR_CONF, "%s: no address of a listener of SRT", text);
    passphrase = o->passphrase ? o->passphrase : url.passphrase;
    size = o->pbkeylen ? (unsigned)o->pbkeylen : url.key_size ? url.key_size : 16;
    if (!*passphrase)
        return NULL;
    if (size != 16 && size != 24 && size != 32)
        return err_new(ERR_CONF, "--pbkeylen: %u is none of 16, 24, 32", size);
    return srt_secret_new(&secret, size, passphrase) ? NULL : err_new(ERR_SYSTEM, "a key");
}

static err_t prepare(struct load_run *run)
{
    const struct load_opts *o = &run->opts;
    struct load_hub_set set = { .opts = o };
    err_t err = make_secret(o, o->url);

    if (!err && o->input) {
        err = load_srt_file_load(&file, o->input);
        set.file = &file;
        run->media_kbps = file.kbps;
    }
    if (secret.key_size > 0)
        set.secret = &secret;
    return err ? err : load_hub_init(&set);
}

static const struct load_tool tool = {
    .name = "sb_srt_load",
    .what = "many SRT players that look at all they get, or publishers, over one socket",
    .kind = LOAD_SRT,
    .schemes = "srt",
    .open = join,
    .prepare = prepare,
    .session = session,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
