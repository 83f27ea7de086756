/* SPDX-License-Identifier: MIT */
/* chunk_in_ready.c - complete messages of one reader that wait to be popped. */
#include "proto/rtmp/chunk_in_ready.h"

#include "base/mem.h"
#include "base/rd.h"

#include <stdlib.h>

/* MAX: more than 64 KB of the smallest messages, so only an aggregate can have more. KEEP: what a
 * publisher needs all the time; more is given back once it is drained. */
enum { FIRST = 4, KEEP = 64, MAX = 65536 };

static err_t grow(struct rtmp_in *in)
{
    uint32_t cap = in->ready_cap ? in->ready_cap * 2 : FIRST;
    struct rtmp_msg *p;

    if (in->ready_end >= MAX)
        return err_new(ERR_TOO_MANY, "%u messages at once", in->ready_end);
    p = mem_try_more(in->ready, cap * sizeof(*p));
    if (!p)
        return err_new(ERR_NO_MEMORY, "%u messages at once", cap);
    in->ready = p;
    in->ready_cap = cap;
    return NULL;
}

void rtmp_in_direct(struct rtmp_in *in, bool (*take)(void *arg, struct rtmp_msg *msg), void *arg)
{
    in->direct = take;
    in->direct_arg = arg;
}

static err_t enqueue(struct rtmp_in *in, struct rtmp_msg *msg)
{
    if (in->ready_end == in->ready_cap) {
        err_t err = grow(in);

        if (err) {
            in->setup->release(msg->payload);
            return err;
        }
    }
    in->ready[in->ready_end++] = *msg;
    return NULL;
}

err_t rtmp_in_ready_push(struct rtmp_in *in, struct rtmp_msg *msg)
{
    if (in->direct && in->ready_at == in->ready_end && in->direct(in->direct_arg, msg))
        return NULL;
    return enqueue(in, msg);
}

static void leave_first(struct rtmp_in *in)
{
    if (++in->ready_at < in->ready_end)
        return;
    in->ready_at = in->ready_end = 0;
    if (in->ready_cap > KEEP) {
        free(in->ready);
        in->ready = NULL;
        in->ready_cap = 0;
    }
}

/* One FLV-like tag [RTMP 7.1.6] with the size of itself behind it. */
static struct rd read_tag(struct rd *r, struct rtmp_msg *msg)
{
    struct rd body;

    msg->type = rd_u8(r);
    msg->size = rd_u24(r);
    msg->time = rd_u24(r);
    msg->time |= (uint32_t)rd_u8(r) << 24;
    (void)rd_u24(r); /* its stream id: that of the aggregate counts */
    body = rd_sub(r, msg->size);
    (void)rd_u32(r); /* back pointer */
    return body;
}

static bool is_media(uint8_t type)
{
    return type == RTMP_AUDIO || type == RTMP_VIDEO || type == RTMP_DATA || type == RTMP_DATA_AMF3;
}

static err_t check_tags(const struct rtmp_in *in, const struct rtmp_msg *aggregate)
{
    struct rd r = rd_init(aggregate->payload, aggregate->size);
    struct rtmp_msg msg;
    err_t err = NULL;

    for (unsigned n = 0; !err && rd_left(&r) > 0; n++) {
        (void)read_tag(&r, &msg);
        if (r.bad)
            err = err_new(ERR_RTMP_CHUNK, "aggregate of %u bytes is cut", aggregate->size);
        else if (n == MAX)
            err = err_new(ERR_TOO_MANY, "%u messages at once", n);
        else
            err = rtmp_in_check_size(in, msg.type, msg.size);
    }
    return err;
}

err_t rtmp_in_ready_aggregate(struct rtmp_in *in, struct rtmp_msg *aggregate)
{
    err_t err = check_tags(in, aggregate);

    if (!err)
        return enqueue(in, aggregate);
    in->setup->release(aggregate->payload);
    return err;
}

/* The next message of the aggregate that is first in the queue, copied. False: that was all. */
static bool next_tag(struct rtmp_in *in, struct rtmp_msg *out)
{
    const struct rtmp_msg *aggregate = &in->ready[in->ready_at];
    struct rd r = rd_init(aggregate->payload + in->split_at, aggregate->size - in->split_at);

    while (rd_left(&r) > 0) {
        struct rtmp_msg msg = *aggregate;
        struct rd body = read_tag(&r, &msg);

        if (in->split_at == 0) /* the aggregate's time is that of its first message */
            in->split_shift = aggregate->time - msg.time;
        in->split_at = aggregate->size - (uint32_t)rd_left(&r);
        if (msg.size == 0 || !is_media(msg.type))
            continue;
        msg.time += in->split_shift;
        msg.payload = in->setup->alloc(in->memory, msg.size);
        if (!msg.payload) { /* no memory: the connection ends with the next bytes */
            in->broken = true;
            return false;
        }
        memcpy(msg.payload, body.p, msg.size);
        *out = msg;
        return true;
    }
    return false;
}

bool rtmp_in_next(struct rtmp_in *in, struct rtmp_msg *out)
{
    while (in->ready_at < in->ready_end) {
        *out = in->ready[in->ready_at];
        if (out->type != RTMP_AGGREGATE) {
            leave_first(in);
            return true;
        }
        if (next_tag(in, out))
            return true;
        in->setup->release(in->ready[in->ready_at].payload);
        in->split_at = 0;
        leave_first(in);
    }
    return false;
}

void rtmp_in_ready_free(struct rtmp_in *in)
{
    for (; in->ready_at < in->ready_end; in->ready_at++)
        in->setup->release(in->ready[in->ready_at].payload);
    free(in->ready);
    in->ready = NULL;
    in->ready_at = in->ready_end = in->ready_cap = 0;
}
