/* SPDX-License-Identifier: MIT */
/* chunk_in.c - parses a peer's bytes into messages [RTMP 5.3]. */
#include "proto/rtmp/chunk_in.h"

#include "base/be.h"
#include "base/mem.h"
#include "base/rd.h"
#include "proto/rtmp/chunk_in_room.h"

#include <stdlib.h>
#include <string.h>

static err_t rtmp_in_check_size(const struct rtmp_in *in, uint8_t type, uint32_t size);

/* ---- chunk streams of one reader: a fixed array for the few low ids that peers use, and a sorted
 * array for all others, which grows up to the limit */

/* Index of the chunk stream in the sorted array, or the index at which to insert it. */
static uint32_t high_index(const struct rtmp_in *in, uint32_t csid)
{
    uint32_t from = 0, to = in->high_count;

    while (from < to) {
        uint32_t mid = from + (to - from) / 2;

        if (in->high[mid].csid < csid)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* Returns NULL if the chunk stream is unknown. */
static struct rtmp_in_stream *rtmp_in_table_find(struct rtmp_in *in, uint32_t csid)
{
    uint32_t at;

    if (csid - RTMP_CSID_MIN < RTMP_IN_LOW) {
        struct rtmp_in_stream *s = &in->low[csid - RTMP_CSID_MIN];

        return s->used ? s : NULL;
    }
    at = high_index(in, csid);
    return at < in->high_count && in->high[at].csid == csid ? &in->high[at] : NULL;
}

static err_t grow_table(struct rtmp_in *in)
{
    uint32_t cap = in->high_cap ? in->high_cap * 2 : 4;
    struct rtmp_in_stream *p = mem_try_more(in->high, cap * sizeof(*p));

    if (!p)
        return err_new(ERR_NO_MEMORY, "%u chunk streams", cap);
    in->high = p;
    in->high_cap = cap;
    return NULL;
}

/* Adds a new chunk stream. Pointers to other chunk streams become invalid. ERR_TOO_MANY. */
static err_t rtmp_in_table_add(struct rtmp_in *in, uint32_t csid, struct rtmp_in_stream **out)
{
    struct rtmp_in_stream *s;
    uint32_t at;
    err_t err;

    if (csid - RTMP_CSID_MIN < RTMP_IN_LOW) {
        s = &in->low[csid - RTMP_CSID_MIN];
    } else {
        if (in->high_count + RTMP_IN_LOW >= in->setup->max_chunk_streams)
            return err_new(ERR_TOO_MANY, "chunk stream %u is one over the limit of %u", csid,
                           in->setup->max_chunk_streams);
        err = in->high_count == in->high_cap ? grow_table(in) : NULL;
        if (err)
            return err;
        at = high_index(in, csid);
        s = &in->high[at];
        memmove(s + 1, s, (in->high_count - at) * sizeof(*s));
        in->high_count++;
    }
    *s = (struct rtmp_in_stream){ .csid = csid, .used = true };
    *out = s;
    return NULL;
}

static void rtmp_in_table_free(struct rtmp_in *in)
{
    rtmp_in_room_drop_all(in);
    free(in->high);
    in->high = NULL;
    in->high_count = in->high_cap = 0;
    memset(in->low, 0, sizeof(in->low));
}

/* ---- queue of complete messages of one reader */

/* MAX: more than 64 KB of the smallest messages, so only an aggregate can exceed it. KEEP: capacity
 * that a publisher always needs; a larger queue is freed once it is empty. */
enum { FIRST = 4, KEEP = 64, MAX = 65536 };

static err_t grow_queue(struct rtmp_in *in)
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
        err_t err = grow_queue(in);

        if (err) {
            in->setup->release(msg->payload);
            return err;
        }
    }
    in->ready[in->ready_end++] = *msg;
    return NULL;
}

/* Takes over the payload, also on ERR_TOO_MANY and ERR_NO_MEMORY. */
static err_t rtmp_in_ready_push(struct rtmp_in *in, struct rtmp_msg *msg)
{
    if (in->direct && in->ready_at == in->ready_end && in->direct(in->direct_arg, msg))
        return NULL;
    return enqueue(in, msg);
}

static void pop_first(struct rtmp_in *in)
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

/* Reads one FLV-like tag [RTMP 7.1.6], followed by its own size. */
static struct rd read_tag(struct rd *r, struct rtmp_msg *msg)
{
    struct rd body;

    msg->type = rd_u8(r);
    msg->size = rd_u24(r);
    msg->time = rd_u24(r);
    msg->time |= (uint32_t)rd_u8(r) << 24;
    (void)rd_u24(r); /* stream id, unused: that of the aggregate is valid */
    body = rd_sub(r, msg->size);
    (void)rd_u32(r); /* back pointer */
    return body;
}

static bool is_kept(uint8_t type)
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
            err = err_new(ERR_RTMP_CHUNK, "aggregate of %u bytes is truncated", aggregate->size);
        else if (n == MAX)
            err = err_new(ERR_TOO_MANY, "%u messages at once", n);
        else
            err = rtmp_in_check_size(in, msg.type, msg.size);
    }
    return err;
}

/* Queues an aggregate; its messages are created one by one as they are popped. Takes over the
 * payload, also on ERR_RTMP_CHUNK (truncated or inconsistent) and ERR_TOO_MANY. */
static err_t rtmp_in_ready_aggregate(struct rtmp_in *in, struct rtmp_msg *aggregate)
{
    err_t err = check_tags(in, aggregate);

    if (!err)
        return enqueue(in, aggregate);
    in->setup->release(aggregate->payload);
    return err;
}

/* Copies the next message of the aggregate at the head of the queue. Returns false at its end. */
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
        if (msg.size == 0 || !is_kept(msg.type))
            continue;
        msg.time += in->split_shift;
        msg.payload = in->setup->alloc(in->memory, msg.size);
        if (!msg.payload) { /* no memory: the next feed fails and ends the connection */
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
            pop_first(in);
            return true;
        }
        if (next_tag(in, out))
            return true;
        in->setup->release(in->ready[in->ready_at].payload);
        in->split_at = 0;
        pop_first(in);
    }
    return false;
}

static void rtmp_in_ready_free(struct rtmp_in *in)
{
    for (; in->ready_at < in->ready_end; in->ready_at++)
        in->setup->release(in->ready[in->ready_at].payload);
    free(in->ready);
    in->ready = NULL;
    in->ready_at = in->ready_end = in->ready_cap = 0;
}

enum { EXTENDED = 0xffffff };

struct header {
    uint8_t fmt, type;
    bool extended;
    uint32_t csid, stamp, size, stream_id;
    struct rtmp_in_stream *stream; /* NULL for its first chunk */
};

static uint8_t *heap_alloc(void *memory, size_t size)
{
    (void)memory;
    return mem_try(size);
}

static uint8_t *heap_grow(uint8_t *payload, size_t size)
{
    return mem_try_more(payload, size);
}

static void heap_release(uint8_t *payload)
{
    free(payload);
}

const struct rtmp_in_setup rtmp_in_heap = {
    .alloc = heap_alloc,
    .grow = heap_grow,
    .release = heap_release,
    .max_message_size = 16 << 20,
    .max_data_size = 1 << 20,
    .max_command_size = 64 << 10,
    .max_chunk_streams = 64,
    .max_inflight = 32 << 20,
    .at_once = 64 << 10,
};

void rtmp_in_init(struct rtmp_in *in, const struct rtmp_in_setup *setup)
{
    *in = (struct rtmp_in){ .setup = setup, .chunk_size = RTMP_CHUNK_SIZE };
}

void rtmp_in_fini(struct rtmp_in *in)
{
    rtmp_in_table_free(in);
    rtmp_in_ready_free(in);
}

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* [RTMP 5.3.1.1] Returns the size of the basic header, or 0 if it is incomplete. */
static size_t parse_basic(const uint8_t *p, size_t n, struct header *h)
{
    uint32_t form = p[0] & 0x3f;

    h->fmt = p[0] >> 6;
    if (form >= 2) {
        h->csid = form;
        return 1;
    }
    if (n < 2 + form)
        return 0;
    h->csid = 64u + p[1] + (form ? (uint32_t)p[2] << 8 : 0);
    return 2 + form;
}

/* Checks whether the n bytes at p can be the beginning of this time. Some peers send 31 bits of
 * it. */
static bool begins_as(const uint8_t *p, size_t n, uint32_t time)
{
    uint8_t want[4] = { (uint8_t)(time >> 24 & 0x7f), (uint8_t)(time >> 16), (uint8_t)(time >> 8),
                        (uint8_t)time };

    return n == 0 || ((p[0] & 0x7f) == want[0] && memcmp(p + 1, want + 1, n - 1) == 0);
}

/* Returns the size of the timestamp after a fmt 3 header: 4, 0, or -1 if more bytes are needed to
 * decide. After an extended timestamp [RTMP 5.3.1.3] requires that it is repeated, but old encoders
 * omit it. In the middle of a message it must equal the known timestamp; if it does not, these
 * bytes belong to the payload. */
static int repeated_stamp(struct rtmp_in_stream *s, const uint8_t *p, size_t n)
{
    size_t have = n < 4 ? n : 4;

    if (!s || !s->extended)
        return 0;
    if (begins_as(p, have, s->stamp) || begins_as(p, have, s->time))
        return have < 4 ? -1 : 4;
    if (s->payload) {
        s->bare = true;
        return 0;
    }
    if (s->bare)
        return 0;
    return have < 4 ? -1 : 4;
}

/* [RTMP 5.3.1.2, 5.3.1.3] Returns the size of the whole header, or 0 if it is incomplete. */
static size_t parse_header(struct rtmp_in *in, const uint8_t *p, size_t n, struct header *h)
{
    static const uint8_t sizes[4] = { 11, 7, 3, 0 };
    size_t at = parse_basic(p, n, h);
    const uint8_t *m = p + at;
    int more;

    if (!at || n < at + sizes[h->fmt])
        return 0;
    at += sizes[h->fmt];
    h->stream = rtmp_in_table_find(in, h->csid);
    if (h->fmt == 3) {
        more = repeated_stamp(h->stream, p + at, n - at);
        h->extended = more > 0;
    } else {
        h->stamp = be_get24(m);
        h->extended = h->stamp == EXTENDED;
        more = !h->extended ? 0 : n - at < 4 ? -1 : 4;
        if (h->fmt < 2) {
            h->size = be_get24(m + 3);
            h->type = m[6];
        }
        if (h->fmt == 0)
            h->stream_id = le32(m + 7);
    }
    if (more < 0)
        return 0;
    if (h->extended)
        h->stamp = be_get32(p + at);
    return at + (size_t)more;
}

/* Sets the time of a message that begins. A fmt 3 header repeats the delta, which after a fmt 0
 * header is that header's timestamp [RTMP 5.3.1.2.4]. An extended timestamp in a fmt 3 header is
 * used unchanged. */
static void apply_time(struct rtmp_in_stream *s, const struct header *h)
{
    if (h->fmt == 0 || (h->fmt == 3 && h->extended && s->absolute))
        s->time = h->stamp;
    else if (h->fmt == 3 && !h->extended)
        s->time += s->stamp;
    else
        s->time += h->stamp;
    if (h->fmt == 3)
        return;
    s->stamp = h->stamp;
    s->absolute = h->fmt == 0;
    s->extended = h->extended;
}

static bool is_data(uint8_t type)
{
    return type == RTMP_DATA || type == RTMP_DATA_AMF3;
}

static bool is_media(uint8_t type)
{
    return type == RTMP_AUDIO || type == RTMP_VIDEO || type == RTMP_AGGREGATE;
}

/* Checks the size limit for messages of this type, also for those in an aggregate.
 * ERR_TOO_LARGE. */
static err_t rtmp_in_check_size(const struct rtmp_in *in, uint8_t type, uint32_t size)
{
    const struct rtmp_in_setup *set = in->setup;
    uint32_t limit = is_media(type) ? set->max_message_size
                     : is_data(type) ? set->max_data_size : set->max_command_size;

    if (limit > set->max_message_size)
        limit = set->max_message_size;
    if (size <= limit)
        return NULL;
    return err_new(ERR_TOO_LARGE, "%s of %u bytes, limit %u",
                   is_media(type) ? "media message" : is_data(type) ? "metadata" : "command", size,
                   limit);
}

static err_t begin_message(const struct rtmp_in *in, struct rtmp_in_stream *s,
                           const struct header *h)
{
    apply_time(s, h);
    if (h->fmt < 2) {
        s->size = h->size;
        s->type = h->type;
    }
    if (h->fmt == 0)
        s->stream_id = h->stream_id;
    s->got = 0;
    return rtmp_in_check_size(in, s->type, s->size);
}

static err_t set_chunk_size(struct rtmp_in *in, uint32_t size)
{
    size &= 0x7fffffff; /* [RTMP 5.4.1]: the first bit is zero */
    if (size == 0)
        return err_new(ERR_RTMP_CHUNK, "chunk size is set to 0");
    in->chunk_size = size < RTMP_CHUNK_SIZE_MAX ? size : RTMP_CHUNK_SIZE_MAX;
    return NULL;
}

static void abort_message(struct rtmp_in *in, uint32_t csid)
{
    struct rtmp_in_stream *s = rtmp_in_table_find(in, csid);

    if (s)
        rtmp_in_room_drop(in, s);
}

static err_t on_control(struct rtmp_in *in, const struct rtmp_msg *msg)
{
    uint32_t value;

    if (msg->size < 4)
        return err_new(ERR_RTMP_MSG_SIZE, "control message %d of %u bytes", msg->type, msg->size);
    value = be_get32(msg->payload);
    switch (msg->type) {
    case RTMP_SET_CHUNK_SIZE:
        return set_chunk_size(in, value);
    case RTMP_ABORT:
        abort_message(in, value);
        return NULL;
    case RTMP_ACK:
        in->peer_acked = value;
        return NULL;
    default: /* RTMP_WINDOW_ACK_SIZE */
        in->window = value;
        return NULL;
    }
}

/* Delivers or releases the payload. */
static err_t end_message(struct rtmp_in *in, const struct rtmp_in_stream *s, uint8_t *payload)
{
    struct rtmp_msg msg = { .type = s->type, .csid = s->csid, .stream_id = s->stream_id,
                            .time = s->time, .size = s->size, .payload = payload };
    err_t err;

    switch (msg.type) {
    case RTMP_SET_CHUNK_SIZE:
    case RTMP_ABORT:
    case RTMP_ACK:
    case RTMP_WINDOW_ACK_SIZE:
        err = on_control(in, &msg);
        break;
    case RTMP_AGGREGATE:
        return rtmp_in_ready_aggregate(in, &msg);
    default:
        return rtmp_in_ready_push(in, &msg);
    }
    in->setup->release(msg.payload);
    return err;
}

/* Bytes to keep of the first `size` bytes of the message. */
static uint32_t kept(const struct rtmp_in *in, const struct rtmp_in_stream *s, uint32_t size)
{
    uint32_t head = in->setup->head;

    return head && size > head && (s->type == RTMP_AUDIO || s->type == RTMP_VIDEO) ? head : size;
}

/* Reads a message whose bytes are all here. It is never incomplete, so it counts in no limit and
 * needs no timeout. */
static err_t take_whole(struct rtmp_in *in, const struct rtmp_in_stream *s, const uint8_t **p)
{
    uint32_t size = kept(in, s, s->size);
    uint8_t *payload = in->setup->alloc(in->memory, size);

    if (!payload)
        return err_new(ERR_NO_MEMORY, "a message of %u bytes", s->size);
    memcpy(payload, *p, size);
    *p += s->size;
    return end_message(in, s, payload);
}

static err_t continue_message(struct rtmp_in *in, struct rtmp_in_stream *s)
{
    in->now = s;
    in->left = s->size - s->got < in->chunk_size ? s->size - s->got : in->chunk_size;
    return NULL;
}

/* Most messages are small and arrive whole. */
static err_t first_chunk(struct rtmp_in *in, struct rtmp_in_stream *s, const struct header *h,
                         const uint8_t **p, const uint8_t *end)
{
    err_t err = begin_message(in, s, h);

    if (err || s->size == 0) /* nothing to deliver */
        return err;
    if (s->size <= (size_t)(end - *p) && s->size <= in->chunk_size)
        return take_whole(in, s, p);
    s->begun_at = co_now();
    err = rtmp_in_room_take(in, s, 1);
    return err ? err : continue_message(in, s);
}

/* Starts a chunk; *p points after its header. */
static err_t begin_chunk(struct rtmp_in *in, const struct header *h, const uint8_t **p,
                         const uint8_t *end)
{
    struct rtmp_in_stream *s = h->stream;

    if (!s) {
        err_t err;

        if (h->fmt > 1) /* fmt 1: librtmp's ping starts so */
            return err_new(ERR_RTMP_CHUNK, "chunk stream %u begins with fmt %d", h->csid, h->fmt);
        err = rtmp_in_table_add(in, h->csid, &s);
        if (err)
            return err;
    }
    if (!s->payload)
        return first_chunk(in, s, h, p, end);
    if (h->fmt < 2 && h->size != s->size)
        return err_new(ERR_RTMP_CHUNK, "chunk stream %u: size %u became %u after %u bytes", h->csid,
                       s->size, h->size, s->got);
    return continue_message(in, s);
}

static err_t consume(struct rtmp_in *in, const uint8_t *p, const uint8_t *end);

/* Completes a header whose first bytes came earlier. */
static err_t read_cut_header(struct rtmp_in *in, const uint8_t **p, const uint8_t *end)
{
    size_t had = in->head_size, room = RTMP_IN_HEADER - had, n = (size_t)(end - *p), used;
    uint8_t rest[RTMP_IN_HEADER];
    const uint8_t *more;
    struct header h = { .fmt = 0 };
    err_t err;

    n = n < room ? n : room;
    memcpy(in->head + had, *p, n);
    used = parse_header(in, in->head, had + n, &h);
    if (used == 0) {
        in->head_size = (uint8_t)(had + n);
        *p += n;
        return NULL;
    }
    in->head_size = 0;
    if (used >= had) {
        *p += used - had;
        return begin_chunk(in, &h, p, end);
    }
    /* The assumed timestamp was payload, and 1 to 3 bytes of it are in `head`. They can begin at
     * most one more header, so the recursion is one level deep. */
    memcpy(rest, in->head, had);
    more = rest + used;
    err = begin_chunk(in, &h, &more, rest + had);
    return err ? err : consume(in, more, rest + had);
}

static err_t read_header(struct rtmp_in *in, const uint8_t **p, const uint8_t *end)
{
    struct header h = { .fmt = 0 };
    size_t n = (size_t)(end - *p), used;

    if (in->head_size > 0)
        return read_cut_header(in, p, end);
    used = parse_header(in, *p, n, &h);
    if (used) {
        *p += used;
        return begin_chunk(in, &h, p, end);
    }
    memcpy(in->head, *p, n); /* less than the largest header, or it would be complete */
    in->head_size = (uint8_t)n;
    *p = end;
    return NULL;
}

static err_t read_payload(struct rtmp_in *in, const uint8_t **p, const uint8_t *end)
{
    struct rtmp_in_stream *s = in->now;
    size_t n = (size_t)(end - *p) < in->left ? (size_t)(end - *p) : in->left;

    uint32_t need = kept(in, s, s->got + (uint32_t)n);

    if (need > s->cap) {
        err_t err = rtmp_in_room_take(in, s, need);

        if (err)
            return err;
    }
    if (need > s->got)
        memcpy(s->payload + s->got, *p, need - s->got);
    *p += n;
    s->got += (uint32_t)n;
    in->left -= (uint32_t)n;
    if (in->left > 0)
        return NULL;
    in->now = NULL;
    return s->got == s->size ? end_message(in, s, rtmp_in_room_give(in, s)) : NULL;
}

static err_t consume(struct rtmp_in *in, const uint8_t *p, const uint8_t *end)
{
    err_t err = NULL;

    while (!err && p < end)
        err = in->now ? read_payload(in, &p, end) : read_header(in, &p, end);
    return err;
}

err_t rtmp_in_feed(struct rtmp_in *in, const uint8_t *bytes, size_t size)
{
    err_t err;

    if (in->evicted)
        return rtmp_in_evicted(in);
    if (in->broken)
        return err_new(ERR_RTMP_CHUNK, "bytes after an error");
    in->bytes += size;
    err = consume(in, bytes, bytes + size);
    in->broken = err != NULL;
    return err;
}

bool rtmp_in_ack_due(const struct rtmp_in *in)
{
    return in->window > 0 && in->bytes - in->acked >= in->window / 2 && in->bytes > in->acked;
}

bool rtmp_in_take_ack(struct rtmp_in *in, uint32_t *sequence)
{
    if (!rtmp_in_ack_due(in))
        return false;
    in->acked = in->bytes;
    *sequence = (uint32_t)in->bytes; /* wraps, [RTMP 5.4.3] */
    return true;
}
