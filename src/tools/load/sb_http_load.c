/* SPDX-License-Identifier: MIT */
/* sb_http_load.c - many HTTP-FLV players, that look at all they get or drop it unseen (--fast).
 * Streams of another format (.mp4, .ts) are always dropped unseen. */
#include "base/must.h"
#include "tools/load/fetch.h"
#include "tools/load/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 256 * 1024, HEAD_MAX = 64 * 1024 };

/* One for all clients: what is read is looked at before anything yields. */
static uint8_t buffer[BUFFER];

static bool is_flv(const struct load_url *url)
{
    const char *end = memchr(url->stream, '?', strlen(url->stream));
    size_t n = end ? (size_t)(end - url->stream) : strlen(url->stream);

    return n < 4 || (strncmp(url->stream + n - 4, ".mp4", 4) != 0 &&
                     strncmp(url->stream + n - 3, ".ts", 3) != 0);
}

/* What came with the head of the answer is media. */
static err_t ask(struct load_client *c, const struct load_url *url, bool flv)
{
    const struct http_call call = { .agent = c->run->tool->name, .keep = true, .head = true,
                                    .timeout = (co_usec)(c->run->opts.timeout * 1e6),
                                    .max_reply = HEAD_MAX };
    bool more = strchr(url->stream, '?');
    struct http_reply reply = { 0 };
    struct http_location to;
    char place[32] = "", *text;
    err_t err;

    if (c->run->opts.anywhere > 0)
        snprintf(place, sizeof(place), "%cstart=%.3f", more ? '&' : '?',
                 load_opts_place(&c->run->opts));
    text = must_print("%s/%s%s", url->tc_url, url->stream, place);
    err = http_location_parse(&to, text);
    free(text);
    if (err)
        return err;
    c->asked = co_clock();
    err = http_client_exchange(&reply, c->talk.io, &to, &call);
    c->talk.io->read_timeout = call.timeout;
    if (!err && reply.status != 200)
        err = err_new(ERR_HTTP, "HTTP/1.1 %d", reply.status);
    if (!err && flv)
        err = load_flv_feed(&c->flv, (uint8_t *)reply.body, reply.size, load_watch, c);
    http_reply_free(&reply);
    http_location_free(&to);
    return err ? err_wrap(err, "answer") : NULL;
}

static err_t read_media(struct load_client *c)
{
    size_t n = 0;
    err_t err;

    load_limit_wait(c);
    err = load_unless_over(c, io_read(c->talk.io, buffer, sizeof(buffer), &n));
    if (!err && n > 0)
        err = load_flv_feed(&c->flv, buffer, n, load_watch, c);
    if (!err)
        err = load_count(c, n);
    return err ? err : co_check();
}

static err_t play(struct load_client *c, const struct load_url *url)
{
    bool fast = c->run->opts.fast, flv = is_flv(url);
    err_t err = NULL;

    if (c->run->opts.read_kbps > 0)
        load_watch_slowly(c);
    if (!c->run->opts.idle)
        err = ask(c, url, flv);
    c->alive = !err;
    while (!err && flv && !load_is_over(c) && !(fast && c->mark_at))
        err = read_media(c);
    if (err || load_is_over(c))
        return err;
    co_stack_trim();
    c->read_at = 0; /* what waits in the kernel counts as it comes */
    return load_drop(c, NULL);
}

static const struct load_tool tool = {
    .name = "sb_http_load",
    .what = "many HTTP-FLV players",
    .kind = LOAD_HTTP,
    .schemes = "http https",
    .open = load_fetch_open,
    .session = play,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
