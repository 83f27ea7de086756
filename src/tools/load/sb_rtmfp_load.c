/* SPDX-License-Identifier: MIT */
/* sb_rtmfp_load.c - many sessions of RTMFP: keys, connect, pings, media, over one socket. */
#include "tools/load/rtmfp_hub.h"

#include "tools/load/floor.h"

#include <stdlib.h>
#include <string.h>

#define LOOK CO_SECONDS(1)

static bool is_one(double percent)
{
    return 100 * ((double)rand() / RAND_MAX) < percent;
}

static err_t join(struct load_client *c, const struct load_url *url, const char *bind_ip,
                  co_usec timeout)
{
    struct load_rtmfp_client *p;
    err_t err;

    (void)timeout;
    c->asked = co_clock();
    if (c->run->opts.flood > 0)
        return NULL;
    err = load_rtmfp_join(&p, c, url, bind_ip);
    c->mine = p;
    return err;
}

static err_t session(struct load_client *c, const struct load_url *url)
{
    const struct load_opts *o = &c->run->opts;
    struct load_rtmfp_client *p = c->mine;
    bool silent = is_one(o->silent), moves = is_one(o->move);
    co_usec move_at = co_clock() + (co_usec)(o->ping * 1e6 * (0.5 + (double)rand() / RAND_MAX));
    err_t err = NULL;

    c->alive = true;
    if (o->flood > 0)
        return load_rtmfp_flood(c, url);
    if (c->run->opts.input)
        c->mark_at = co_clock(); /* rates of publishers count from here */
    if (o->pair)
        err = load_rtmfp_pair(p);
    co_stack_trim();
    while (!err && !load_is_over(c)) {
        err = load_rtmfp_stay(p, load_left(c, LOOK));
        if (!err && moves && co_clock() >= move_at) {
            err = load_rtmfp_move(p);
            moves = false;
        }
        if (!err)
            err = co_check();
    }
    load_rtmfp_leave(p, silent && !err);
    c->mine = NULL;
    return err;
}

static const struct load_tool tool = {
    .name = "sb_rtmfp_load",
    .what = "many sessions of RTMFP over one socket: keys, connect, pings; players; publishers",
    .kind = LOAD_RTMFP,
    .schemes = "rtmfp",
    .open = join,
    .prepare = load_rtmfp_hub_init,
    .session = session,
    .finish = load_rtmfp_hub_fini,
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--floor") == 0)
            return load_rtc_floor(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--dh") == 0)
        return load_rtmfp_keys();
    return load_main(&tool, argc, argv);
}
