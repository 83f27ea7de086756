/* SPDX-License-Identifier: MIT */
/* sb_rtmp_load_fast.c - many RTMP players that drop what they get as cheaply as the kernel allows.
 *
 * After the first media nothing is parsed (drop.c).
 */
#include "tools/load/watch.h"

static void on_media(void *arg, const struct load_tag *tag)
{
    struct load_client *c = arg;

    (void)tag;
    if (c->mark_at)
        return;
    c->mark_at = co_clock();
    load_hist_add(&c->run->stat.first_byte, c->mark_at - c->began);
}

static void count(struct load_client *c, size_t n)
{
    c->bytes += n;
    c->run->stat.bytes_in += n;
}

static err_t alive(struct load_client *c)
{
    return load_talk_alive(&c->talk, c->bytes);
}

static err_t play(struct load_client *c, const struct load_url *url)
{
    err_t err;

    (void)url;
    c->talk.media = on_media;
    c->talk.arg = c;
    err = load_talk_play(&c->talk, -1);
    c->alive = !err;
    while (!err && !c->mark_at && !load_is_over(c)) {
        uint64_t before = c->talk.conn.in.bytes;

        load_limit_wait(c);
        err = load_unless_over(c, load_talk_read(&c->talk));
        count(c, (size_t)(c->talk.conn.in.bytes - before));
    }
    if (err)
        return err;
    co_stack_trim();
    return load_drop(c, alive);
}

static const struct load_tool tool = {
    .name = "sb_rtmp_load_fast",
    .what = "many RTMP players that take the bytes and drop them",
    .kind = LOAD_FAST,
    .schemes = "rtmp",
    .session = play,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
