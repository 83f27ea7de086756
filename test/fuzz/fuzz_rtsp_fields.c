/* SPDX-License-Identifier: MIT */
/* fuzz_rtsp_fields.c - values of RTSP fields and urls: a round trip of what was read is
 * identical.
 *
 * The first byte selects the field.
 */
#include "base/wr.h"
#include "proto/rtsp/auth.h"
#include "proto/rtsp/range.h"
#include "proto/rtsp/rtp_info.h"
#include "proto/rtsp/session.h"
#include "proto/rtsp/transport.h"
#include "proto/rtsp/url.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELD_MAX = 16 * 1024 }; /* the limit of headers */

static char *text_of(struct wr *w)
{
    wr_u8(w, 0);
    assert(w->bad == ERR_OK);
    return (char *)w->buf;
}

static void transport(const char *text)
{
    struct rtsp_transport a[RTSP_OFFERS_MAX], b[RTSP_OFFERS_MAX];
    size_t n = 0;

    rtsp_transport_parse(text, a, &n);
    assert(n <= RTSP_OFFERS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct wr once, twice;
        size_t k = 0;

        wr_init(&once, 10000);
        wr_init(&twice, 10000);
        rtsp_transport_put(&once, &a[i]);
        if (strpbrk(a[i].destination, "\";,") || strpbrk(a[i].source, "\";,")) {
            wr_free(&once); /* a quoted value */
            continue;
        }
        rtsp_transport_parse(text_of(&once), b, &k);
        assert(k == 1);
        rtsp_transport_put(&twice, &b[0]);
        assert(strcmp((char *)once.buf, text_of(&twice)) == 0);
        wr_free(&once);
        wr_free(&twice);
    }
}

static void range(const char *text)
{
    struct rtsp_range a, b;
    struct wr w;

    if (!rtsp_range_parse(text, &a) || a.unit != RTSP_RANGE_NPT)
        return;
    wr_init(&w, 100);
    rtsp_range_put(&w, &a);
    assert(rtsp_range_parse(text_of(&w), &b));
    assert(a.begin / 1000 == b.begin / 1000 && a.end / 1000 == b.end / 1000);
    wr_free(&w);
}

static void rate(const char *text)
{
    struct wr w;
    int a, b;

    if (!rtsp_rate_parse(text, &a))
        return;
    wr_init(&w, 100);
    rtsp_rate_put(&w, a);
    assert(rtsp_rate_parse(text_of(&w), &b) && a == b);
    wr_free(&w);
}

static void rtp_info(const char *text)
{
    struct rtsp_rtp_info e[RTSP_RTP_INFO_MAX];
    size_t n = rtsp_rtp_info_parse(text, e);

    assert(n <= RTSP_RTP_INFO_MAX);
    for (size_t i = 0; i < n; i++)
        assert(e[i].url >= text && e[i].url + e[i].url_size <= text + strlen(text));
}

static void target(const char *text)
{
    struct rtsp_target t;
    err_t err = rtsp_target_parse(&t, text);

    if (!err) {
        assert(t.all || !*t.path || (t.path[0] == '/' && !strstr(t.path, "//")));
        assert(!strstr(t.path, "/../") && t.track >= -1);
    }
    err_free(&err);
    rtsp_target_free(&t);
}

static void place(const char *text)
{
    struct rtsp_location p, again;
    err_t err = rtsp_location_parse(&p, text);
    char *url;

    if (!err) {
        assert(p.port > 0 && p.port < 65536 && *p.host);
        err = rtsp_location_parse(&again, p.url);
        assert(!err && strcmp(again.url, p.url) == 0 && again.port == p.port);
        rtsp_location_free(&again);
    }
    err_free(&err);
    rtsp_location_free(&p);
    url = rtsp_url_join("rtsp://h/a", text);
    assert(strncmp(url, "rtsp://h", 8) == 0);
    assert(rtsp_url_is_track(url, "rtsp://h/a", text));
    free(url);
}

static void session(const char *text)
{
    char id[RTSP_SESSION_ID_MAX + 1];
    int timeout;

    if (rtsp_session_parse(text, id, &timeout))
        assert(*id && timeout >= 0);
}

static void digest(const char *text)
{
    char *copy = strdup(text), *rest = copy, out[RTSP_RESPONSE_SIZE];
    struct rtsp_digest d;
    enum rtsp_hash hash;

    assert(copy);
    while (rtsp_digest_next(&rest, &d)) {
        if (rtsp_digest_hash(&d, &hash))
            assert(rtsp_digest_response(&d, hash, "p", "PLAY", out));
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const fields[])(const char *) = { transport, range, rate, rtp_info,
                                                    target, place, session, digest };
    char *text;

    if (size < 1 || size > FIELD_MAX)
        return 0;
    text = malloc(size);
    assert(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    fields[data[0] % (sizeof(fields) / sizeof(fields[0]))](text);
    free(text);
    assert(err_live() == 0);
    return 0;
}
