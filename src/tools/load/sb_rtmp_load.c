/* SPDX-License-Identifier: MIT */
/* sb_rtmp_load.c - many RTMP players that look at all they get. */
#include "tools/load/watch.h"

static err_t read_media(struct load_client *c)
{
    uint64_t before = c->talk.conn.in.bytes;
    err_t err, end;

    load_limit_wait(c);
    err = load_unless_over(c, load_talk_read(&c->talk));
    end = load_count(c, (size_t)(c->talk.conn.in.bytes - before));
    if (err)
        err_free(&end);
    else
        err = end;
    if (!err && c->talk.over)
        err = err_new(ERR_IO_CLOSED, "the recording is at its end");
    return err ? err : co_check();
}

static err_t play(struct load_client *c, const struct load_url *url)
{
    err_t err = NULL;

    (void)url;
    c->talk.media = load_watch;
    c->talk.arg = c;
    if (c->run->opts.read_kbps > 0)
        load_watch_slowly(c);
    c->asked = co_clock();
    if (!c->run->opts.idle)
        err = load_talk_play(&c->talk, load_opts_place(&c->run->opts));
    if (!err)
        co_stack_trim();
    c->alive = !err;
    while (!err && !load_is_over(c))
        err = read_media(c);
    return err;
}

static const struct load_tool tool = {
    .name = "sb_rtmp_load",
    .what = "many RTMP players that look at all they get",
    .kind = LOAD_PLAY,
    .schemes = "rtmp rtmps",
    .session = play,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
