/* SPDX-License-Identifier: MIT */
/* fuzz_srt_km.c - any bytes as an SRT key message, including new keys; and as
 * acknowledgements and lists of missing packets. */
#include "fuzz.h"
#include "proto/srt/crypt.h"

#include <assert.h>
#include <string.h>

static void take_keys(const struct srt_km *km)
{
    struct srt_secret known = { .which = SRT_EVEN, .key_size = km->key_size };
    uint8_t packet[188] = { 0 };
    struct srt_cipher *c;

    memcpy(known.salt, km->salt, SRT_SALT);
    c = srt_cipher_new(&known);
    if (srt_km_unwrap_known(&known, km))
        assert(srt_cipher_set(c, &known) && known.which == (SRT_EVEN | km->which));
    for (int i = SRT_EVEN; i <= SRT_ODD; i++)
        if (srt_cipher_has(c, (enum srt_key)i))
            srt_cipher_run(c, (enum srt_key)i, km->wrapped[0], packet, packet, sizeof(packet));
    srt_cipher_free(c);
}

static void read_lists(const uint8_t *data, size_t size)
{
    struct srt_nak_reader r;
    struct srt_range range;
    struct srt_ack a;
    uint8_t out[28];

    srt_nak_begin(&r, data, size);
    while (srt_nak_next(&r, &range)) {
        assert(srt_seq_distance(range.first, range.last) >= 0);
        assert(srt_nak_put(&range, out, sizeof(out)) > 0);
    }
    assert(r.at <= r.end);
    if (srt_ack_read(&a, data, size))
        assert(srt_ack_write(&a, out) <= size && memcmp(out, data, 4) == 0);
    if (srt_drop_read(&range, data, size))
        assert(srt_drop_write(&range, out) == 8 && memcmp(out, data, 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct srt_km km;
    uint8_t out[SRT_KM_MAX];

    read_lists(data, size);
    if (!srt_km_read(&km, data, size))
        return 0;
    assert(srt_km_write(&km, out) == size);
    take_keys(&km);
    return 0;
}
