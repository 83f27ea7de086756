/* SPDX-License-Identifier: MIT */
/* rtmp.c - RTMP over RTMFP flows, RFC 7425, section 5. */
#include "proto/rtmfp/rtmp.h"

#include "base/ip.h"
#include "base/url.h"
#include "proto/rtmp/command.h"

#include <string.h>

/* ---- metadata, 5.3.1 */

enum { HAS_STREAM = 0x04, ON_ARRIVAL = 0x01, SIGNATURE = 2 };

static const uint8_t rtmp_signature[SIGNATURE] = { 0x54, 0x43 };
static const uint8_t group_signature[SIGNATURE] = { 0x47, 0x43 };

struct rtmfp_flow_metadata rtmfp_flow_metadata_parse(struct rtmfp_bytes metadata)
{
    struct rd r = rtmfp_rd(metadata);
    const uint8_t *signature = rd_take(&r, SIGNATURE);
    struct rtmfp_flow_metadata out = { .kind = RTMFP_FLOW_UNKNOWN };
    uint8_t flags;
    uint64_t stream;

    if (!signature)
        return out;
    if (memcmp(signature, group_signature, SIGNATURE) == 0)
        out.kind = RTMFP_FLOW_GROUP;
    if (memcmp(signature, rtmp_signature, SIGNATURE) != 0)
        return out;
    flags = rd_u8(&r);
    stream = rtmfp_vlu_read(&r);
    if (r.bad || !(flags & HAS_STREAM) || stream > UINT32_MAX)
        return out;
    return (struct rtmfp_flow_metadata){ .kind = RTMFP_FLOW_RTMP, .direct = flags & ON_ARRIVAL,
                                      .stream = (uint32_t)stream };
}

size_t rtmfp_flow_metadata_build(uint32_t stream, uint8_t out[RTMFP_FLOW_METADATA_MAX])
{
    struct wr w = rtmfp_wr(out, RTMFP_FLOW_METADATA_MAX);

    wr_bytes(&w, rtmp_signature, SIGNATURE);
    wr_u8(&w, HAS_STREAM);
    rtmfp_vlu_write(&w, stream);
    return w.len;
}

/* ---- messages, 5.3.2 */

bool rtmfp_rtmp_message_parse(struct rtmfp_rtmp_message *out, struct rtmfp_bytes data)
{
    struct rd r = rtmfp_rd(data);

    out->type = rd_u8(&r);
    out->time = rd_u32(&r);
    out->body = rtmfp_rest(&r);
    return !r.bad;
}

struct rtmfp_message *rtmfp_rtmp_message_new(uint8_t type, uint32_t time, struct rtmfp_bytes body,
                                     co_usec now)
{
    struct rtmfp_message *m = rtmfp_message_of(type, time, body.n, now);

    if (m && body.n > 0)
        memcpy(m->bytes + RTMFP_MESSAGE_HEAD, body.p, body.n);
    return m;
}

/* ---- user control, 5.3.3 to 5.3.5 */

static bool has_more(uint16_t id)
{
    return id == RTMP_SET_BUFFER_LENGTH || id == RTMFP_FLOW_SYNC || id == RTMFP_KEEPALIVES;
}

bool rtmfp_event_read(struct rtmfp_event *out, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    out->id = rd_u16(&r);
    out->value = rd_u32(&r);
    out->more = has_more(out->id) ? rd_u32(&r) : 0;
    return !r.bad;
}

size_t rtmfp_event_write(const struct rtmfp_event *e, uint8_t out[RTMFP_EVENT_MAX])
{
    struct wr w = rtmfp_wr(out, RTMFP_EVENT_MAX);

    wr_u16(&w, e->id);
    wr_u32(&w, e->value);
    if (has_more(e->id))
        wr_u32(&w, e->more);
    return w.len;
}

/* ---- addresses of setPeerInfo, 5.5 */

bool rtmfp_address_of_text(struct rtmfp_address *out, const char *text)
{
    static const uint8_t none[sizeof(out->at.ip)], any_v4[4];
    struct host_port parts = host_port_split(text, strlen(text));
    int port = host_port_number(&parts);
    char host[UDP_TEXT];
    err_t err;

    if (parts.bad || port == 0 || parts.host_n >= sizeof(host) ||
        memchr(parts.host, '%', parts.host_n)) /* a zone is valid only on that host */
        return false;
    memcpy(host, parts.host, parts.host_n);
    host[parts.host_n] = '\0';
    out->origin = RTMFP_LOCAL;
    err = udp_addr_parse(&out->at, host, port);
    if (err) {
        err_free(&err);
        return false;
    }
    if (ip_is_v4(out->at.ip))
        return memcmp(out->at.ip + 12, any_v4, 4) != 0;
    return memcmp(out->at.ip, none, sizeof(none)) != 0;
}
