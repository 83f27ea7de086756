/* SPDX-License-Identifier: MIT */
/* sb_hls_load.c - many HLS players: lists, segments in order, near the live edge; parts and
 * blocking reloads where a list offers low latency. RFC 8216, draft-pantos-hls-rfc8216bis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/load/fetch.h"
#include "tools/load/hls.h"

enum { LIST_MAX = 8 << 20, FAILURES = 5, NAME_MAX_KEPT = 512 };
#define AHEAD_MAX CO_SECONDS(30) /* of media fetched and not shown */
#define FIND_OUT CO_MS(200)      /* after a list that did not come */

struct player {
    struct load_client *c;
    struct load_fetch fetch;
    char url[LOAD_FETCH_URL];        /* of the media playlist */
    struct http_reply text;           /* of the list */
    struct load_hls_list list;
    struct load_hls_play play;
    struct load_hls_place next;
    char map[NAME_MAX_KEPT], key[NAME_MAX_KEPT]; /* that we have */
    char hinted[NAME_MAX_KEPT];       /* a part that was fetched before a list had it */
    co_usec asked_at;                 /* for the list */
    co_usec grown_at;                 /* the list had something new */
    int failures;                     /* in a row */
};

static int64_t to_usec(int64_t clock)
{
    return clock * 100 / 9;
}

static co_usec stall_of(const struct player *p)
{
    return CO_MS(p->c->run->opts.stall_ms);
}

static bool is_same(const char *kept, struct m3u8_text t)
{
    return t.n > 0 && strlen(kept) == t.n && memcmp(kept, t.p, t.n) == 0;
}

static void keep(char kept[NAME_MAX_KEPT], struct m3u8_text t)
{
    kept[0] = '\0';
    if (t.n < NAME_MAX_KEPT && t.n > 0) {
        memcpy(kept, t.p, t.n);
        kept[t.n] = '\0';
    }
}

/* ---- media */

static err_t fetch_media(struct player *p, struct m3u8_text uri)
{
    char url[LOAD_FETCH_URL];
    err_t err = load_url_resolve(url, sizeof(url), p->url, uri.p, uri.n);

    if (err)
        return err;
    p->fetch.media = true;
    err = load_fetch_get(&p->fetch, url, NULL, 0);
    p->fetch.media = false;
    return err;
}

/* An initialization or a key, once. */
static err_t fetch_shared(struct player *p, char kept[NAME_MAX_KEPT], struct m3u8_text uri)
{
    err_t err;

    if (uri.n == 0 || is_same(kept, uri))
        return NULL;
    err = fetch_media(p, uri);
    if (!err && p->fetch.status == 200)
        keep(kept, uri);
    return err;
}

static void count_media(struct player *p, const struct load_hls_unit *u)
{
    struct load_stat *s = &p->c->run->stat;
    int64_t wall_now = load_wall();

    if (p->play.got == 0)
        load_hist_add(&s->hls.first_segment, co_clock() - p->c->began);
    if (u->whole)
        s->hls.segments++;
    else
        s->hls.parts++;
    s->messages++;
    load_hls_play_add(&p->play, s, co_clock(), stall_of(p), to_usec(u->duration), u->wall * 1000);
    if (p->play.wall_end && p->play.moves)
        load_hist_add(&s->latency, wall_now - p->play.wall_end + load_hls_play_ahead(&p->play));
    p->c->alive = true;
    p->failures = 0;
}

static err_t missing(struct player *p)
{
    p->c->run->stat.hls.skipped++;
    if (++p->failures < FAILURES)
        return NULL;
    return err_new(ERR_HTTP, "status %d for %d segments in a row", p->fetch.status, p->failures);
}

static err_t fetch_unit(struct player *p, size_t i)
{
    struct load_stat *s = &p->c->run->stat;
    const struct load_hls_unit *u = &p->list.units[i];
    co_usec began = co_clock();
    err_t err;

    if (p->play.got > 0 && !load_hls_list_follows(&p->list, i, p->next))
        s->hls.skipped++;
    p->next = load_hls_list_after(u);
    if (u->gap)
        return missing(p);
    if (is_same(p->hinted, u->uri)) {
        s->hls.hints++;
        count_media(p, u);
        return NULL;
    }
    err = fetch_shared(p, p->map, u->map);
    if (!err)
        err = fetch_shared(p, p->key, u->key);
    if (!err)
        err = fetch_media(p, u->uri);
    if (err)
        return err_wrap(err, "%s %.*s", u->whole ? "segment" : "part", (int)u->uri.n, u->uri.p);
    if (p->fetch.status != 200)
        return missing(p);
    if (u->whole)
        load_hist_add(&s->hls.fetch, co_clock() - began);
    count_media(p, u);
    return NULL;
}

/* The server answers when the part is there. */
static err_t fetch_hint(struct player *p)
{
    char hinted[NAME_MAX_KEPT];
    err_t err;

    keep(hinted, p->list.hint);
    err = fetch_media(p, p->list.hint);
    if (!err && p->fetch.status == 200)
        memcpy(p->hinted, hinted, sizeof(hinted));
    return err ? err_wrap(err, "hinted part %s", hinted) : NULL;
}

/* ---- lists */

static err_t parse(struct player *p)
{
    load_hls_list_free(&p->list);
    return load_hls_list_parse(&p->list, p->text.body, p->text.size,
                               p->c->run->opts.plain);
}

static err_t fetch_list(struct player *p, const char *url)
{
    struct http_reply text = { 0 };
    err_t err;

    p->asked_at = co_clock();
    err = load_fetch_get(&p->fetch, url, &text, LIST_MAX);
    if (err)
        return err_wrap(err, "playlist");
    if (p->fetch.status != 200) {
        http_reply_free(&text);
        return err_new(ERR_HTTP, "status %d for the playlist", p->fetch.status);
    }
    http_reply_free(&p->text);
    p->text = text;
    p->c->run->stat.hls.lists++;
    return parse(p);
}

static err_t first_list(struct player *p)
{
    struct load_stat *s = &p->c->run->stat;
    err_t err = fetch_list(p, p->url);

    if (!err)
        load_hist_add(&s->first_byte, co_clock() - p->c->began);
    if (!err)
        memcpy(p->url, p->fetch.url, sizeof(p->url));
    if (!err && p->list.variant.p) {
        err = load_url_resolve(p->url, sizeof(p->url), p->fetch.url, p->list.variant.p,
                               p->list.variant.n);
        if (!err)
            err = fetch_list(p, p->url);
        if (!err)
            memcpy(p->url, p->fetch.url, sizeof(p->url));
        if (!err && p->list.variant.p)
            err = err_new(ERR_MALFORMED, "a master list in a master list");
    }
    if (!err)
        load_hist_add(&s->hls.first_list, co_clock() - p->c->began);
    return err;
}

/* [HLS] bis 6.2.5: ask for what comes next, to be answered when it is there; without what is known,
 * if what is known is not old. */
static err_t blocking_reload(struct player *p)
{
    bool skip = co_clock() - p->asked_at < to_usec(p->list.skip_until) / 2;
    char url[LOAD_FETCH_URL];
    int n = snprintf(url, sizeof(url), "%s%c_HLS_msn=%llu&_HLS_part=%d%s", p->url,
                     strchr(p->url, '?') ? '&' : '?', (unsigned long long)p->next.segment,
                     p->next.part, skip ? "&_HLS_skip=YES" : "");

    if (n < 0 || n >= (int)sizeof(url))
        return err_new(ERR_HTTP, "a url of over %d bytes", LOAD_FETCH_URL);
    return fetch_list(p, url);
}

/* [HLS] 6.3.4: a target duration after the last time; half of it when nothing was new. */
static err_t plain_reload(struct player *p, bool grown)
{
    co_usec due = p->asked_at + CO_SECONDS(p->list.target) / (grown ? 1 : 2);
    co_usec wait = load_left(p->c, due - co_clock());
    err_t err = NULL;

    if (wait > 0)
        err = co_sleep(wait);
    if (err || load_is_over(p->c))
        return err;
    return fetch_list(p, p->url);
}

static int64_t hold_back(const struct player *p)
{
    double s = p->c->run->opts.hold_back;

    return s > 0 ? (int64_t)(s * 90000) : p->list.hold_back;
}

/* Fetch from a unit that can be decoded alone, show from where the hold-back says. */
static void begin_at_edge(struct player *p)
{
    size_t i = load_hls_list_start(&p->list, hold_back(p));
    int64_t lead = load_hls_list_left(&p->list, i) - hold_back(p);

    p->next = p->list.n > 0 ? p->list.units[i].at : p->list.end;
    load_hls_play_jump(&p->play, co_clock(), to_usec(lead));
}

/* How far behind the end of the list the picture is; who is much too far behind goes on nearer. */
static void look_at_edge(struct player *p)
{
    struct load_stat *s = &p->c->run->stat;
    int64_t most = to_usec(hold_back(p)) * 2 + CO_SECONDS(p->list.target), behind;

    load_hls_play_turn(&p->play, s, co_clock(), stall_of(p));
    behind = to_usec(load_hls_list_left(&p->list, load_hls_list_find(&p->list, p->next))) +
             load_hls_play_ahead(&p->play);
    load_hist_add(&s->hls.edge, behind);
    if (behind <= most || p->list.over)
        return;
    s->hls.jumps++;
    begin_at_edge(p);
}

/* A list that does not come once is asked for again. */
static err_t reload(struct player *p, bool *grown)
{
    struct load_hls_place end = p->list.end;
    err_t err = p->list.parts ? blocking_reload(p) : plain_reload(p, *grown);

    if (err_code(err) == ERR_HTTP && ++p->failures < FAILURES) {
        err_free(&err);
        return co_sleep(FIND_OUT);
    }
    if (err || load_is_over(p->c))
        return err;
    *grown = p->list.end.segment != end.segment || p->list.end.part != end.part;
    if (*grown) {
        p->grown_at = co_clock();
        look_at_edge(p);
    } else {
        load_hls_play_turn(&p->play, &p->c->run->stat, co_clock(), stall_of(p));
        if (co_clock() - p->grown_at > (co_usec)(p->c->run->opts.timeout * 1e6))
            return err_new(ERR_IO_TIMEOUT, "the list has had nothing new for long");
    }
    return NULL;
}

/* ---- the player */

/* Let some of what was fetched be shown. */
static err_t rest(struct player *p, int64_t left)
{
    co_usec wait = load_left(p->c, load_hls_play_ahead(&p->play) - left);
    err_t err = wait > 0 ? co_sleep(wait) : NULL;

    load_hls_play_turn(&p->play, &p->c->run->stat, co_clock(), stall_of(p));
    return err;
}

static err_t fetch_listed(struct player *p)
{
    size_t i = load_hls_list_find(&p->list, p->next);
    err_t err = NULL;

    while (!err && i < p->list.n && !load_is_over(p->c)) {
        load_hls_play_turn(&p->play, &p->c->run->stat, co_clock(), stall_of(p));
        if (load_hls_play_ahead(&p->play) > AHEAD_MAX)
            err = rest(p, AHEAD_MAX);
        if (!err)
            err = fetch_unit(p, i++);
    }
    return err;
}

static err_t watch(struct player *p)
{
    bool grown = true;
    err_t err = first_list(p);

    p->grown_at = co_clock();
    if (!err)
        begin_at_edge(p);
    while (!err && !load_is_over(p->c)) {
        err = fetch_listed(p);
        if (!err && p->list.over) {
            err = rest(p, 0);
            return err ? err : err_new(ERR_IO_CLOSED, "the end of the list");
        }
        if (!err && p->list.parts && p->list.hint.n > 0 && !load_is_over(p->c))
            err = fetch_hint(p);
        if (!err && !load_is_over(p->c))
            err = reload(p, &grown);
        if (!err)
            err = co_check();
    }
    return load_unless_over(p->c, err);
}

static err_t play(struct load_client *c, const struct load_url *url)
{
    struct player *p = calloc(1, sizeof(*p));
    err_t err;

    if (!p)
        return err_new(ERR_NO_MEMORY, "a player");
    p->c = c;
    load_fetch_init(&p->fetch, c, url);
    (void)snprintf(p->url, sizeof(p->url), "%s/%s", url->tc_url, url->stream);
    err = watch(p);
    load_hls_list_free(&p->list);
    http_reply_free(&p->text);
    free(p);
    return err;
}

static const struct load_tool tool = {
    .name = "sb_hls_load",
    .what = "many HLS players",
    .kind = LOAD_HLS,
    .schemes = "http https",
    .open = load_fetch_open,
    .session = play,
};

int main(int argc, char **argv)
{
    return load_main(&tool, argc, argv);
}
