/* SPDX-License-Identifier: MIT */
/* sb_rtc_load.c - many WebRTC players (WHEP) that look at all they get, or publishers (WHIP); or
 * the bare cost of what a server sends to so many (--floor). */
#include "tools/load/floor.h"
#include "tools/load/rtc_peer.h"

#include <stdio.h>
#include <string.h>

static struct load_media source;

static err_t join(struct load_client *c, const struct load_url *url, const char *bind_ip,
                  co_usec timeout)
{
    const struct load_opts *o = &c->run->opts;
    unsigned i = o->stream_count > 0 ? c->index % (unsigned)o->stream_count : c->index;
    char text[LOAD_URL_SIZE];
    struct load_rtc *p = NULL;
    err_t err = load_url_expand(text, sizeof(text), o->url, i);

    (void)url;
    if (!err)
        err = load_rtc_join(&p, c, text, bind_ip, timeout);
    c->mine = p;
    return err;
}

static err_t session(struct load_client *c, const struct load_url *url)
{
    err_t err;

    (void)url;
    c->alive = true;
    if (c->run->opts.input)
        c->mark_at = co_clock();
    co_stack_trim();
    err = load_rtc_stay(c->mine);
    load_rtc_leave(c->mine);
    c->mine = NULL;
    return err;
}

static err_t prepare(struct load_run *run)
{
    const struct load_opts *o = &run->opts;
    err_t err = NULL;

    if (o->input)
        err = load_media_load(&source, o->input, true);
    if (!err && o->input)
        run->media_kbps = load_media_kbps(&source);
    return err ? err : load_rtc_init(o->input ? &source : NULL, o->cm);
}

static const struct load_tool tool = {
    .name = "sb_rtc_load",
    .what = "many WebRTC players that look at all they get, or publishers",
    .kind = LOAD_RTC,
    .schemes = "http https",
    .open = join,
    .prepare = prepare,
    .session = session,
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--floor") == 0)
            return load_rtc_floor(argc, argv);
    return load_main(&tool, argc, argv);
}
