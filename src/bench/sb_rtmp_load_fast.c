/* SPDX-License-Identifier: MIT */
/* sb_rtmp_load_fast.c - many RTMP players that drop what they get as cheaply as the kernel allows.
 *
 * After the first media nothing is parsed. The kernel wakes a player when some hundred ms of its
 * stream are there (SO_RCVLOWAT), and gives the bytes up without copying them (MSG_TRUNC).
 */
#include "bench/run.h"

#include "co/io_tcp.h"

enum { LOW_MIN = 16 * 1024, LOW_MAX = 256 * 1024, LOW_MS = 400, ALIVE_S = 20 };

static void on_media(void *arg, const struct bench_skim_msg *msg)
{
    struct bench_client *c = arg;

    (void)msg;
    if (c->mark_at)
        return;
    c->mark_at = co_clock();
    bench_hist_add(&c->run->stat.first_byte, c->mark_at - c->began);
}

static void count(struct bench_client *c, size_t n)
{
    c->bytes += n;
    c->run->stat.bytes_in += n;
}

/* Bytes of LOW_MS of this stream as it came so far. */
static int low_mark(co_usec since, uint64_t bytes)
{
    co_usec passed = co_now() - since;
    uint64_t low = passed > 0 ? bytes * LOW_MS * 1000 / (uint64_t)passed : LOW_MIN;

    return (int)(low < LOW_MIN ? LOW_MIN : low > LOW_MAX ? LOW_MAX : low);
}

static err_t drop(struct bench_client *c)
{
    co_usec since = co_now(), tuned = since, told = since;
    uint64_t from = c->bytes;
    err_t err = NULL;

    io_tcp_read_low(c->talk.io, LOW_MIN);
    while (!err && !bench_is_over(c)) {
        size_t n = 0;

        bench_limit_wait(c);
        err = bench_unless_over(c, io_tcp_drop(c->talk.io, &n));
        count(c, n);
        if (co_now() - tuned > CO_SECONDS(2)) { /* after the burst of the join, and as it changes */
            io_tcp_read_low(c->talk.io, low_mark(tuned, c->bytes - from));
            tuned = co_now();
            from = c->bytes;
        }
        if (!err && co_now() - told > CO_SECONDS(ALIVE_S)) {
            c->talk.skim.bytes = c->bytes;
            err = bench_talk_alive(&c->talk);
            told = co_now();
        }
        if (!err)
            err = co_check();
    }
    return err;
}

static err_t play(struct bench_client *c, const struct bench_url *url)
{
    err_t err;

    c->talk.media = on_media;
    c->talk.arg = c;
    err = bench_talk_play(&c->talk, url);
    c->alive = !err;
    while (!err && !c->mark_at && !bench_is_over(c)) {
        uint64_t before = c->talk.skim.bytes;

        bench_limit_wait(c);
        err = bench_unless_over(c, bench_talk_read(&c->talk));
        count(c, (size_t)(c->talk.skim.bytes - before));
    }
    if (err)
        return err;
    co_stack_trim();
    return drop(c);
}

static const struct bench_tool tool = {
    .name = "sb_rtmp_load_fast",
    .what = "many RTMP players that take the bytes and drop them",
    .kind = BENCH_FAST,
    .session = play,
};

int main(int argc, char **argv)
{
    return bench_main(&tool, argc, argv);
}
