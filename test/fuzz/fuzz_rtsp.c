/* SPDX-License-Identifier: MIT */
/* fuzz_rtsp.c - RTSP messages from a peer, to a server that has all streams, and to a client.
 *
 * The result must not depend on how the input is cut. Bit 0 of the first byte selects the client,
 * the others the size of the pieces.
 */
#include "base/wr.h"
#include "io_mem.h"
#include "proto/rtsp/client.h"
#include "proto/rtsp/reader.h"
#include "proto/rtsp/server.h"
#include "proto/rtsp/url.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { METHODS_ALL = (1 << RTSP_REDIRECT) - 1, SAID_MOST = 1 << 22 };

static const struct rtsp_limits limits = {
    .max_line = 400, .max_head = 1600, .max_fields = 16, .max_body = 2000,
    .idle_time = CO_FOREVER, .message_time = CO_FOREVER,
};

static const struct rtsp_server_rules rules = {
    .methods = METHODS_ALL, .transports = { .tcp = true, .udp = true, .multicast = true },
    .timeout = 60,
};

static int handle(struct rtsp_server *s, const struct rtsp_message *req,
                  struct rtsp_session **session)
{
    struct rtsp_transport t;
    struct rtsp_target target;
    int status = rtsp_server_check(s, req, 0, session);
    err_t err = status ? NULL : rtsp_target_parse(&target, req->url);

    if (status || err) {
        err_free(&err);
        return status ? status : 400;
    }
    if (req->method == RTSP_SETUP)
        status = rtsp_server_setup(s, req, (unsigned)(target.track < 0 ? 0 : target.track), 0,
                                   session, &t);
    else if (req->method == RTSP_ANNOUNCE)
        rtsp_server_announced(s);
    else if (*session && (req->method == RTSP_PLAY || req->method == RTSP_PAUSE ||
                          req->method == RTSP_RECORD))
        rtsp_session_accepted(*session, req->method);
    else if (req->method == RTSP_TEARDOWN && rtsp_server_teardown(s, *session, target.track))
        *session = NULL;
    rtsp_target_free(&target);
    return status ? status : 200;
}

static void check_server(const struct rtsp_server *s)
{
    unsigned n = 0;

    for (const struct rtsp_session *x = s->sessions; x; x = x->next) {
        unsigned tracks = 0;

        n++;
        for (unsigned i = 0; i < RTSP_TRACKS_MAX; i++)
            tracks += x->tracks[i].url != NULL;
        assert(tracks == x->n_tracks && tracks > 0 && x->state != RTSP_INIT);
        assert(x->state != RTSP_RECORDING || x->record);
    }
    assert(n == s->n_sessions && n <= RTSP_SESSIONS_MAX);
}

static void as_server(struct rtsp_server *s, const struct rtsp_message *req)
{
    struct rtsp_session *session = NULL;
    struct wr w;

    if (!req->is_request)
        return;
    wr_init(&w, SAID_MOST);
    rtsp_server_put(s, &w, handle(s, req, &session), req, session);
    assert(w.bad == ERR_OK);
    wr_free(&w);
    check_server(s);
}

static void as_client(struct rtsp_client *c, const struct rtsp_message *m)
{
    struct wr w;
    char *base;

    wr_init(&w, SAID_MOST);
    (void)rtsp_client_response(c, m);
    base = rtsp_client_base(c, m);
    rtsp_client_put(c, &w, RTSP_DESCRIBE, base, NULL, 0, NULL, 0);
    free(base);
    assert(w.bad == ERR_OK && memchr(w.buf, 0, w.len) == NULL);
    wr_free(&w);
}

static void note(struct wr *w, const struct rtsp_item *i)
{
    const struct rtsp_message *m = i->message;

    if (i->kind == RTSP_ITEM_FRAME) {
        wr_printf(w, "$%d ", i->channel);
        wr_bytes(w, i->data, i->size);
        return;
    }
    wr_printf(w, "%s %s %d %lld %d ", m->verb, m->url, m->status, (long long)m->cseq, m->wrong);
    for (unsigned k = 0; k < m->n_fields; k++)
        wr_printf(w, "%s=%s,", m->head + m->fields[k].name, m->head + m->fields[k].value);
    wr_bytes(w, m->body, m->size);
}

/* Returns the error code at the end. */
static enum err_code run(const uint8_t *data, size_t size, size_t piece, bool client, struct wr *w)
{
    struct rtsp_server s = { .rules = &rules };
    struct rtsp_client c;
    struct rtsp_reader r;
    struct rtsp_item item;
    enum err_code code;
    struct io_mem m;
    err_t err = rtsp_client_init(&c, "rtsp://u:p@h/a");

    assert(!err);
    io_mem_init(&m, data, size);
    m.piece = piece;
    rtsp_reader_init(&r, &m.io, &limits);
    r.frames = r.forgiving = client;
    rtsp_reader_add_channel(&r, 0);
    while (!(err = rtsp_reader_next(&r, &item))) {
        note(w, &item);
        if (item.kind == RTSP_ITEM_MESSAGE && client)
            as_client(&c, item.message);
        else if (item.kind == RTSP_ITEM_MESSAGE)
            as_server(&s, item.message);
        r.frames |= s.sessions != NULL;
    }
    code = err_code(err);
    assert(code == ERR_IO_CLOSED || code == ERR_RTSP || code == ERR_TOO_LARGE ||
           code == ERR_TOO_MANY);
    wr_printf(w, "%d %d %lld", (int)code, r.status, (long long)r.cseq);
    err_free(&err);
    rtsp_reader_fini(&r);
    rtsp_server_fini(&s);
    rtsp_client_fini(&c);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr whole, cut;
    bool client;

    if (size < 2)
        return 0;
    client = data[0] & 1;
    wr_init(&whole, SAID_MOST);
    wr_init(&cut, SAID_MOST);
    assert(run(data + 1, size - 1, 0, client, &whole) ==
           run(data + 1, size - 1, (size_t)(data[0] >> 1) + 1, client, &cut));
    assert(whole.len == cut.len && memcmp(whole.buf, cut.buf, whole.len) == 0);
    wr_free(&whole);
    wr_free(&cut);
    assert(err_live() == 0);
    return 0;
}
