/* SPDX-License-Identifier: MIT */
/* fuzz_sdp.c - any bytes as a session description, and tracks of its content. */
#include "format/rtp/unpack.h"
#include "fuzz.h"
#include "proto/sdp/sdp.h"

#include <assert.h>
#include <string.h>

static const struct sdp *read_it;
static size_t read_size;

/* A string inside of the description. */
static size_t inside(const char *p)
{
    size_t n = strlen(p);

    assert(n == 0 || (p >= read_it->memory && p + n <= read_it->memory + read_size));
    return n;
}

static void open_track(const struct sdp_media *m, const struct sdp_format *f)
{
    enum av_kind kind = m->kind == SDP_VIDEO ? AV_VIDEO : AV_AUDIO;
    struct rtp_unpacker_opts opts = { .clock = f->clock, .channels = f->channels };
    struct rtp_unpacker u;
    err_t err;

    opts.fmt = f->name[0] ? rtp_format_named(kind, f->name, inside(f->name))
                          : rtp_format_fixed(f->type);
    if (!opts.fmt)
        return;
    opts.fmtp = (struct span){ f->fmtp, inside(f->fmtp) };
    err = rtp_unpacker_init(&u, &opts);
    if (!err)
        rtp_unpacker_fini(&u);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sdp s;
    err_t err = sdp_parse(&s, (const char *)data, size);

    if (err) {
        err_free(&err);
        assert(err_live() == 0);
        return 0;
    }
    read_it = &s;
    read_size = size;
    assert(s.n <= SDP_MEDIA_MAX);
    (void)(inside(s.name) + inside(s.control) + inside(s.range));
    for (unsigned i = 0; i < s.n; i++) {
        const struct sdp_media *m = &s.media[i];

        assert(m->n <= SDP_FORMATS_MAX && m->port <= UINT16_MAX);
        (void)(inside(m->proto) + inside(m->control) + inside(m->address));
        for (unsigned k = 0; k < m->n; k++) {
            assert(m->formats[k].type < 128);
            open_track(m, &m->formats[k]);
        }
    }
    sdp_free(&s);
    assert(err_live() == 0);
    return 0;
}
