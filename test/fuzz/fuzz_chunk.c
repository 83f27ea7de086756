/* SPDX-License-Identifier: MIT */
/* fuzz_chunk.c - any bytes as chunks. However they are split, the same messages come out and the same
 * error. One exception: a message that arrives whole needs no room among the incomplete ones, and so is
 * accepted where one in pieces is rejected. Memory per peer is limited; no payload is lost or
 * freed twice. */
#include "fuzz.h"
#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/command.h"

#include <assert.h>
#include <stdlib.h>

const size_t fuzz_input_most = 32 * 1024; /* each is run ten times, in pieces */

static long live;
static size_t live_bytes;

/* Payloads with their size before them. */
static uint8_t *count_alloc(void *memory, size_t size)
{
    (void)memory;
    size_t *p = malloc(sizeof(*p) + size);

    *p = size;
    live++;
    live_bytes += size;
    return (uint8_t *)(p + 1);
}

static uint8_t *count_grow(uint8_t *payload, size_t size)
{
    size_t *p = (size_t *)(void *)payload - 1;

    live_bytes += size - *p;
    p = realloc(p, sizeof(*p) + size);
    if (!p)
        abort();
    *p = size;
    return (uint8_t *)(p + 1);
}

static void count_release(uint8_t *payload)
{
    size_t *p = (size_t *)(void *)payload - 1;

    live--;
    live_bytes -= *p;
    free(p);
}

/* Memory at once and little of it; or on demand, and enough. */
static const struct rtmp_in_setup setups[] = {
    { .alloc = count_alloc, .grow = count_grow, .release = count_release,
      .max_message_size = 4000, .max_data_size = 3000, .max_command_size = 4000,
      .max_chunk_streams = 16, .max_inflight = 8000, .at_once = 4000 },
    { .alloc = count_alloc, .grow = count_grow, .release = count_release,
      .max_message_size = 4000, .max_data_size = 3000, .max_command_size = 4000,
      .max_chunk_streams = 16, .max_inflight = 16 * 4000, .at_once = 3 },
};

struct sum {
    uint64_t hash;
    unsigned count;
    enum err_code code;
};

static void add(struct sum *s, uint64_t v)
{
    s->hash = (s->hash ^ v) * 0x100000001b3u;
}

static void drain(struct rtmp_in *in, struct sum *s)
{
    struct rtmp_msg m;

    while (rtmp_in_next(in, &m)) {
        struct rtmp_event e;
        err_t err = rtmp_event_parse(&e, &m);

        err_free(&err);
        assert(m.size > 0 && m.size <= setups[0].max_message_size);
        s->count++;
        add(s, m.type);
        add(s, m.csid);
        add(s, m.stream_id);
        add(s, m.time);
        for (uint32_t i = 0; i < m.size; i++)
            add(s, m.payload[i]);
        count_release(m.payload);
    }
}

static struct sum run(const struct rtmp_in_setup *setup, const uint8_t *data, size_t size,
                      size_t piece)
{
    struct sum s = { .code = ERR_OK };
    struct rtmp_in in;
    err_t err = NULL;
    uint32_t seq;

    rtmp_in_init(&in, setup);
    for (size_t at = 0; at < size && !err; at += piece) {
        err = rtmp_in_feed(&in, data + at, size - at < piece ? size - at : piece);
        drain(&in, &s);
        (void)rtmp_in_take_ack(&in, &seq);
        assert(in.inflight <= setup->max_inflight && live_bytes == in.inflight);
        assert(in.high_count + RTMP_IN_LOW <= setup->max_chunk_streams);
    }
    s.code = err_code(err);
    err_free(&err);
    rtmp_in_fini(&in);
    assert(live == 0 && live_bytes == 0 && err_live() == 0);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        struct sum whole = run(&setups[i], data, size, size + 1);

        for (size_t piece = 1; piece <= 13; piece += 4) {
            struct sum cut = run(&setups[i], data, size, piece);

            if (i == 0 && cut.code == ERR_TOO_LARGE &&
                (cut.count < whole.count || whole.code != ERR_TOO_LARGE))
                continue;
            assert(cut.hash == whole.hash && cut.count == whole.count && cut.code == whole.code);
        }
    }
    return 0;
}
