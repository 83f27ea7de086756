/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_rtmp.c - any bytes in flows of RTMP over RTMFP: metadata, messages, user
 * control, the addresses of setPeerInfo. */
#include "fuzz.h"
#include "proto/rtmfp/rtmp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void metadata(struct rtmfp_bytes data)
{
    struct rtmfp_flow_metadata w = rtmfp_flow_metadata_parse(data), again;
    uint8_t out[RTMFP_FLOW_METADATA_MAX];
    size_t n;

    assert(w.kind <= RTMFP_FLOW_GROUP);
    if (w.kind != RTMFP_FLOW_RTMP)
        return;
    n = rtmfp_flow_metadata_build(w.stream, out);
    assert(n <= sizeof(out));
    again = rtmfp_flow_metadata_parse(rtmfp_bytes(out, n));
    assert(again.kind == RTMFP_FLOW_RTMP && again.stream == w.stream);
}

static void message(struct rtmfp_bytes data)
{
    struct rtmfp_message *m;
    struct rtmfp_rtmp_message said;

    if (!rtmfp_rtmp_message_parse(&said, data)) {
        assert(data.n < RTMFP_MESSAGE_HEAD);
        return;
    }
    assert(said.body.n == data.n - RTMFP_MESSAGE_HEAD);
    m = rtmfp_rtmp_message_new(said.type, said.time, said.body, 0);
    assert(m->size == data.n && memcmp(m->bytes, data.p, data.n) == 0);
    rtmfp_message_unref(m);
}

static void event(struct rtmfp_bytes data)
{
    uint8_t out[RTMFP_EVENT_MAX];
    struct rtmfp_event e, again;
    size_t n;

    if (!rtmfp_event_read(&e, data))
        return;
    n = rtmfp_event_write(&e, out);
    assert(n <= sizeof(out) && rtmfp_event_read(&again, rtmfp_bytes(out, n)));
    assert(again.id == e.id && again.value == e.value && again.more == e.more);
}

static void address(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct rtmfp_address a;

    memcpy(text, data, size);
    text[size] = '\0';
    if (rtmfp_address_of_text(&a, text))
        assert(a.at.port != 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtmfp_bytes all = { data, size };

    metadata(all);
    message(all);
    event(all);
    address(data, size);
    return 0;
}
