/* SPDX-License-Identifier: MIT */
/* fuzz_rtp_extensions.c - any bytes as an RTP packet with header extensions, or as a
 * retransmitted one. Elements are within it, and what is built from them is read back unchanged. */
#include "fuzz.h"
#include "proto/rtp/extensions.h"

#include <assert.h>
#include <string.h>

enum { ELEMENTS = 64 };

static void build(const struct rtp_ext *all, unsigned n)
{
    uint8_t out[1024];
    size_t size = rtp_ext_build(out, sizeof(out), all, n);
    struct rtp_packet p = { .extension = out + 4, .extension_size = size - 4, .payload = out };
    struct rtp_ext_reader r;
    struct rtp_ext e;

    if (size == 0)
        return;
    p.profile = (uint16_t)(out[0] << 8 | out[1]);
    rtp_ext_begin(&r, &p);
    for (unsigned i = 0; i < n; i++) {
        assert(rtp_ext_next(&r, &e) && e.id == all[i].id && e.size == all[i].size);
        assert(memcmp(e.data, all[i].data, e.size) == 0);
    }
    assert(!rtp_ext_next(&r, &e));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t out[256];
    struct rtp_packet p;
    struct rtp_ext_reader r;
    struct rtp_ext e, all[ELEMENTS];
    unsigned n = 0;
    size_t again = rtp_rtx_unwrap(out, sizeof(out), data, size, 96, 1);

    assert(again == 0 || (again == size - 2 && rtp_parse(&p, out, again) && p.ssrc == 1));
    if (!rtp_parse(&p, data, size))
        return 0;
    rtp_ext_begin(&r, &p);
    while (rtp_ext_next(&r, &e)) {
        assert(e.id > 0 && e.data >= p.extension);
        assert(e.data + e.size <= p.extension + p.extension_size);
        if (n < ELEMENTS)
            all[n++] = e;
    }
    build(all, n);
    return 0;
}
