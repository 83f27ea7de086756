/* SPDX-License-Identifier: MIT */
/* fuzz_mp4_final.c - any file as a recording in fragments. */
#include "base/rd.h"
#include "format/mp4/final.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For the mdat that follows; for any other box the whole rest. */
static uint64_t payload(struct rd r)
{
    uint32_t n = rd_u32(&r);
    const uint8_t *type = rd_take(&r, 4);

    return type && n >= 8 && n - 8 <= rd_left(&r) ? n - 8 : rd_left(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    struct mp4_final f;
    struct wr out;
    bool fine = true;

    mp4_final_init(&f);
    wr_init(&out, 1 << 20);
    while (fine && rd_left(&r) >= 8) {
        const uint8_t *box = r.p;
        uint32_t n = rd_u32(&r);
        const uint8_t *type = rd_take(&r, 4), *body = n >= 8 ? rd_take(&r, n - 8) : NULL;

        fine = body != NULL;
        if (fine && memcmp(type, "moov", 4) == 0)
            fine = mp4_final_head(&f, body, n - 8);
        else if (fine && memcmp(type, "moof", 4) == 0)
            fine = mp4_final_fragment(&f, box, n, (uint64_t)(r.p - data) + 8, payload(r));
    }
    for (size_t i = 0; i < f.n_spans; i++)
        assert(f.spans[i].size <= size);
    if (f.n_spans > 0)
        (void)mp4_final_build(&f, &out);
    wr_free(&out);
    mp4_final_fini(&f);
    return 0;
}
