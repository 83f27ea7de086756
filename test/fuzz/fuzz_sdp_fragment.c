/* SPDX-License-Identifier: MIT */
/* fuzz_sdp_fragment.c - any bytes as additional candidates, or as an ICE restart. */
#include "fuzz.h"
#include "proto/sdp/agree.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sdp_fragment f;

    if (!sdp_fragment_parse(&f, (const char *)data, size))
        return 0;
    assert(strlen(f.ufrag) <= ICE_UFRAG_MAX && strlen(f.pwd) <= ICE_PWD_MAX);
    assert(!strchr(f.ufrag, ':') && f.candidates <= size);
    return 0;
}
