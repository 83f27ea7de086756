/* SPDX-License-Identifier: MIT */
/* rtmp.c - turns a publisher's RTMP messages into packets. */
#include "intake/rtmp.h"

#include "base/log.h"
#include "format/flv/flv.h"
#include "intake/media.h"
#include "proto/rtmp/amf0.h"

#include <string.h>

/* Maximum sizes. A decoder configuration usually has some hundred bytes; a stream keeps many of
 * them for joining players. */
enum { METADATA_MAX = 256 * 1024, CONFIG_MAX = 64 * 1024 };

uint8_t *rtmp_intake_alloc(void *stream, size_t size)
{
    struct av_packet *pkt = av_packet_try_in(stream, size);

    return pkt ? pkt->data : NULL;
}

uint8_t *rtmp_intake_grow(uint8_t *payload, size_t size)
{
    struct av_packet *pkt = av_packet_grow(av_packet_of(payload), size);

    return pkt ? pkt->data : NULL;
}

void rtmp_intake_release(uint8_t *payload)
{
    (void)av_packet_unref(av_packet_of(payload));
}

/* Returns the size of the AMF0 string `name` if the data begin with it, else 0. */
static size_t begins_with(const struct av_packet *pkt, const char *name)
{
    size_t n = strlen(name);

    if (pkt->size < n + 3 || pkt->data[0] != AMF_STRING || pkt->data[1] != 0 || pkt->data[2] != n)
        return 0;
    return memcmp(pkt->data + 3, name, n) == 0 ? n + 3 : 0;
}

/* Returns a copy of the packet without its first n bytes; releases the packet. */
static struct av_packet *cut_front(struct av_packet *pkt, size_t n, uint8_t origin)
{
    struct av_packet *rest = av_packet_try(pkt->size - n);

    if (!rest) /* left unchanged, players will not recognize it */
        return pkt;
    memcpy(rest->data, pkt->data + n, rest->size);
    rest->origin = origin;
    (void)av_packet_unref(pkt);
    return rest;
}

static bool has_atc(const struct amf_value *meta)
{
    const struct amf_value *v = amf_get(meta, "bravo_atc");

    if (!v)
        return false;
    return v->type == AMF_STRING ? strcmp(v->string, "true") == 0
                                 : v->type <= AMF_BOOLEAN && v->number != 0;
}

static err_t rewrite(struct rtmp_intake *m, struct wr *w, const struct av_packet *pkt, size_t at)
{
    struct rd r = rd_init(pkt->data + at, pkt->size - at);
    struct amf_value meta, server = amf_text(m->signature);
    struct amf amf;
    err_t err;

    amf_init(&amf, METADATA_MAX);
    err = amf0_read(&amf, &r, &meta);
    if (!err && !amf_has_members(&meta))
        err = err_new(ERR_AMF0, "onMetaData has no members");
    if (!err)
        err = amf_set(&amf, &meta, "server", strlen("server"), &server);
    if (!err) {
        m->atc |= m->atc_auto && has_atc(&meta);
        amf0_string(w, "onMetaData");
        amf0_write(w, &meta);
        wr_bytes(w, r.p, rd_left(&r));
        err = wr_err(w, "onMetaData");
    }
    amf_free(&amf);
    return err;
}

/* Adds our fields to the metadata, so players see the relaying server; keeps everything else in the
 * publisher's order. */
static struct av_packet *with_our_fields(struct rtmp_intake *m, struct av_packet *pkt)
{
    size_t at = begins_with(pkt, "onMetaData");
    struct av_packet *made;
    struct wr w;
    err_t err;

    if (!at)
        return pkt;
    wr_init(&w, METADATA_MAX);
    err = rewrite(m, &w, pkt, at);
    if (err) {
        wr_free(&w);
        err_free(&err); /* cannot be changed: pass it on unchanged */
        return pkt;
    }
    made = av_packet_try(w.len);
    if (!made) {
        wr_free(&w);
        return pkt;
    }
    memcpy(made->data, w.buf, w.len);
    made->origin = pkt->origin;
    wr_free(&w);
    (void)av_packet_unref(pkt);
    return made;
}

/* Converts a data message for players, who expect only what follows "@setDataFrame", in AMF0. */
static struct av_packet *data_packet(struct rtmp_intake *m, struct av_packet *pkt)
{
    size_t frame;

    if (pkt->origin == FLV_DATA_AMF3 && pkt->size > 0 && pkt->data[0] == 0)
        pkt = cut_front(pkt, 1, FLV_DATA);
    if (pkt->origin != FLV_DATA)
        return pkt;
    frame = begins_with(pkt, "@setDataFrame");
    if (frame)
        pkt = cut_front(pkt, frame, FLV_DATA);
    return with_our_fields(m, pkt);
}

/* Returns true for messages of a server to a player, which a relay that copies all messages
 * publishes. They are not part of the stream; FFmpeg would treat one as a stream. */
static bool is_server_message(const struct av_packet *pkt)
{
    return begins_with(pkt, "onStatus") || begins_with(pkt, "|RtmpSampleAccess");
}

static bool is_media(const struct av_packet *pkt)
{
    return pkt->origin == FLV_AUDIO || pkt->origin == FLV_VIDEO || pkt->origin == FLV_DATA_AMF3 ||
           (pkt->origin == FLV_DATA && !is_server_message(pkt));
}

static void log_config(struct rtmp_intake *m, const struct av_packet *pkt)
{
    struct av_info info = { 0 };

    if (m->skip_sps || m->logged >= INTAKE_LOGGED_MAX)
        return;
    if (pkt->kind != AV_DATA && intake_parse(&info, pkt->codec, av_packet_payload(pkt),
                                             av_packet_payload_size(pkt)) != INTAKE_FAILED) {
        intake_log_config(&m->logged, pkt->kind, pkt->codec, &info, pkt->size);
        return;
    }
    m->logged++;
    if (pkt->kind == AV_DATA)
        log_trace("got metadata, %uB", pkt->size);
}

static void count_bad(struct rtmp_intake *m, err_t err)
{
    if (m->bad++ == 0)
        log_end("broken message left out, more are only counted", &err);
    err_free(&err);
}

/* Removes wraps for each kind separately, because some senders use different clocks for them. */
static int64_t time_of(struct rtmp_intake *m, const struct av_packet *pkt, uint32_t ms)
{
    struct rtmp_time *t = &m->times[pkt->kind];

    return pkt->config || pkt->extra ? rtmp_time_peek(t, ms) : rtmp_time_next(t, ms);
}

/* Copies a configuration into its own memory. A stream keeps it as long as it exists, so it must
 * not pin a block of packets. */
static struct av_packet *apart(struct av_packet *pkt)
{
    struct av_packet *copy = av_packet_copy(pkt);

    if (!copy)
        return pkt;
    (void)av_packet_unref(pkt);
    return copy;
}

void rtmp_intake_push(struct rtmp_intake *m, struct rtmp_msg *msg)
{
    struct av_packet *pkt = av_packet_of(msg->payload);
    err_t err;

    msg->payload = NULL;
    pkt->origin = msg->type;
    if (msg->type == RTMP_DATA || msg->type == RTMP_DATA_AMF3)
        pkt = data_packet(m, pkt);
    if (pkt->size == 0 || !is_media(pkt)) {
        (void)av_packet_unref(pkt);
        return;
    }
    err = flv_packet_describe(pkt);
    if (!err && (pkt->config || pkt->extra) && pkt->kind != AV_DATA && pkt->size > CONFIG_MAX)
        err = err_new(ERR_TOO_LARGE, "a decoder configuration of %u bytes", pkt->size);
    if (err) {
        count_bad(m, err);
    } else {
        if (pkt->config)
            log_config(m, pkt);
        if (pkt->config || pkt->extra)
            pkt = apart(pkt);
        live_source_push(m->src, pkt, AV_MS(time_of(m, pkt, msg->time)));
    }
    (void)av_packet_unref(pkt);
}
