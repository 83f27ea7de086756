/* SPDX-License-Identifier: MIT */
/* sb_http_load.c - many HTTP-FLV players, that look at all they get or drop it unseen (--fast).
 * Streams of another format (.mp4, .ts) are always dropped unseen. */
#include "tools/load/fetch.h"
#include "tools/load/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 256 * 1024, HEAD_MAX = 4096 };

/* One for all clients: what is read is looked at before anything yields. */
static uint8_t buffer[BUFFER];

static bool is_flv(const struct load_url *url)
{
    const char *end = memchr(url->stream, '?', strlen(url->stream));
    size_t n = end ? (size_t)(end - url->stream) : strlen(url->stream);

    return n < 4 || (strncmp(url->stream + n - 4, ".mp4", 4) != 0 &&
                     strncmp(url->stream + n - 3, ".ts", 3) != 0);
}

static err_t ask(struct load_client *c, const struct load_url *url)
{
    char text[LOAD_URL_SIZE * 2], place[32] = "";
    int n;

    if (c->run->opts.anywhere > 0)
        snprintf(place, sizeof(place), "%cstart=%.3f", strchr(url->stream, '?') ? '&' : '?',
                 load_opts_place(&c->run->opts));
    n = snprintf(text, sizeof(text),
                 "GET /%s/%s%s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: sb_http_load\r\n\r\n",
                 url->app, url->stream, place, url->host, url->port);
    c->asked = co_clock();
    return io_write(c->talk.io, text, (size_t)n);
}

/* Read the head of the answer; what came behind it is media. It may come in pieces, between which
 * others use the buffer. */
static err_t answer(struct load_client *c, bool flv)
{
    uint8_t *mine = malloc(HEAD_MAX), *end = NULL;
    size_t size = 0, n = 0;
    err_t err = NULL;

    if (!mine)
        return err_new(ERR_NO_MEMORY, "head of an answer");
    while (!err && !end && size < HEAD_MAX) {
        err = io_read(c->talk.io, mine + size, HEAD_MAX - size, &n);
        size += n;
        end = memmem(mine, size, "\r\n\r\n", 4);
    }
    if (!err && (!end || memcmp(mine, "HTTP/1.1 200", 12) != 0))
        err = err_new(ERR_HTTP, "%.*s", (int)(size < 40 ? size : 40), (const char *)mine);
    if (!err && flv)
        err = load_flv_feed(&c->flv, end + 4, size - (size_t)(end + 4 - mine), load_watch, c);
    free(mine);
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
    if (!c->run->opts.idle) {
        err = ask(c, url);
        if (!err)
            err = answer(c, flv);
    }
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
