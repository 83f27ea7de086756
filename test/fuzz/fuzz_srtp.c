/* SPDX-License-Identifier: MIT */
/* fuzz_srtp.c - any packets as SRTP and SRTCP of a peer: only sealed
 * ones are accepted, and each once. */
#include "fuzz.h"
#include "proto/srtp/srtp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void forged(struct srtp_in *in, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    size_t n = size;

    memcpy(copy, data, size);
    assert(!srtp_unprotect(in, copy, &n) && n == size);
    memcpy(copy, data, size);
    assert(!srtcp_unprotect(in, copy, &n) && n == size);
    free(copy);
}

/* Its first 12 bytes as a header with any content. */
static void sealed(struct srtp_out *out, struct srtp_in *in, const uint8_t *data, size_t size)
{
    uint8_t *to = malloc(size + SRTCP_TAIL);
    uint32_t ssrc = (uint32_t)data[8] << 24 | (uint32_t)data[9] << 16 | (uint32_t)data[10] << 8 |
                    data[11];
    size_t n;

    assert(srtp_out_source(out, ssrc, 1)); /* its packet may be made again */
    n = srtp_protect(out, to, data, 12, data + 12, size - 12, data[2] << 8 | data[3]);

    assert(n > size && n <= size + SRTP_TAIL);
    if (srtp_unprotect(in, to, &n)) {
        /* with sources or an extension the payload would begin later than declared */
        assert(n == size && (data[0] & 0x1f || memcmp(to, data, size) == 0));
        n = srtp_protect(out, to, data, 12, data + 12, size - 12, data[2] << 8 | data[3]);
        assert(!srtp_unprotect(in, to, &n));
    }
    n = srtcp_protect(out, to, data, size);
    assert(n > size && n <= size + SRTCP_TAIL);
    if (srtcp_unprotect(in, to, &n))
        assert(n == size && memcmp(to, data, size) == 0);
    free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct srtp_keys keys = { .profile = SRTP_AES128_CM_SHA1_80, .key = { 1 }, .salt = { 2 } };
    struct srtp_out *out;
    struct srtp_in *in;

    if (size < 1 || size > 4096)
        return 0;
    if (data[0] & 1)
        keys.profile = SRTP_AEAD_AES_128_GCM;
    assert(!srtp_out_new(&out, &keys) && !srtp_in_new(&in, &keys));
    forged(in, data + 1, size - 1);
    if (size > 13)
        sealed(out, in, data + 1, size - 1);
    srtp_out_free(out);
    srtp_in_free(in);
    return 0;
}
