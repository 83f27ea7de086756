/* SPDX-License-Identifier: MIT */
/* feed_turn.c - the bytes that a feed sends in one turn: pieces of parts, shared or renumbered for
 * the player.
 *
 * Nothing else runs on the thread between ranges() and advance(), so the parts held between them
 * and the memory for renumbered bytes belong to the thread.
 */
#include "base/container_of.h"
#include "base/thread_own.h"
#include "vod/feed_impl.h"

enum {
    PARTS = 8,
    BYTES = 512 * 1024,   /* per turn: some 100 us of work */
    SCRATCH = 256 * 1024,
    COPY_MAX = 16 * 1024, /* longer rests of a cut packet are not copied: their part is held */
    TRIES = 16,           /* consecutive empty parts that one turn passes */
};

struct piece {
    const struct vod_part *part; /* holds a reference, */
    bool given;                  /* unless given away */
    bool done;                   /* all of it was sent */
    bool stops;                  /* the requested range ends with this piece */
    uint32_t from, end;          /* range in the part */
    const uint8_t *data;         /* the bytes to send */
};

static _Thread_local struct turn {
    const struct vod_feed *owner;
    unsigned n;
    struct piece v[PARTS];
    size_t used; /* in the scratch buffer */
    uint8_t *scratch;
} *turn;

/* ---- the parts that the thread holds */

static void end_turn(void)
{
    for (unsigned i = 0; i < turn->n; i++) {
        if (!turn->v[i].given)
            vod_part_put(turn->owner->file, turn->v[i].part, turn->v[i].done);
    }
    turn->n = 0;
    turn->used = 0;
    turn->owner = NULL;
}

void vod_feed_turn_end(const struct vod_feed *f)
{
    if (turn && turn->owner == f)
        end_turn();
}

static void begin_turn(const struct vod_feed *f)
{
    if (!turn)
        turn = thread_own(sizeof(*turn), NULL);
    end_turn();
    turn->owner = f;
}

/* ---- how much of a part is due */

/* Returns the number of frames that end at or before byte `end` and are due by `dts`. */
static unsigned count_marks(const struct vod_part *part, uint32_t end, int64_t dts)
{
    unsigned low = 0, high = part->n;

    while (low < high) {
        unsigned mid = (low + high) / 2;

        if (part->marks[mid].end <= end && part->marks[mid].dts <= dts)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static unsigned marks_until(const struct vod_part *part, uint32_t end)
{
    return count_marks(part, end, INT64_MAX);
}

static unsigned marks_wanted(const struct vod_part *part, int64_t wants)
{
    bool all = part->n > 0 && part->marks[part->n - 1].dts <= wants;

    return all ? part->n : count_marks(part, UINT32_MAX, wants);
}

static int64_t shown(const struct vod_mark *m)
{
    return m->dts + m->cts;
}

/* Gives the frame with which the requested range ends; false if it goes beyond the part. Frames are
 * not stored in the order of presentation, so all frames that are decoded before a requested one
 * are sent too. */
static bool stops_in(const struct vod_feed *f, const struct vod_part *part, unsigned *marks)
{
    unsigned n = part->n;

    if (f->stop == INT64_MAX)
        return false;
    while (n > 0 && shown(&part->marks[n - 1]) >= f->stop)
        n--;
    *marks = n;
    if (part->n == 0)
        return part->dts >= f->stop;
    return part->marks[part->n - 1].dts >= f->stop || (part->last && n < part->n);
}

/* A part is sent as a whole if the rest of it is due soon, so that it need not be held until then.
 * This does not apply shortly after a pause, see feed.c. */
static bool ends_soon(const struct vod_feed *f, const struct vod_part *part, int64_t wants)
{
    int64_t soon = av_from_us(VOD_TURN_MOST) * f->scale / VOD_SCALE_1;

    return vod_feed_is_ahead(f) && part->marks[part->n - 1].dts <= wants + soon;
}

/* Returns the end of the bytes that are due, or -1 if none are. */
static int64_t due_end(const struct vod_feed *f, const struct vod_part *part, int64_t wants,
                       bool *stops)
{
    unsigned n = marks_wanted(part, wants), most;

    *stops = false;
    if (part->n == 0 && part->dts > wants)
        return -1;
    if (stops_in(f, part, &most)) {
        *stops = most <= n;
        n = most <= n ? most : n;
    } else if (n > 0 && n < part->n && ends_soon(f, part, wants)) {
        return (int64_t)part->size;
    }
    if (n == part->n && !*stops)
        return (int64_t)part->size;
    if (n == 0)
        return *stops ? 0 : -1;
    return part->marks[n - 1].end;
}

/* ---- collecting pieces */

struct cursor {
    struct vod_at at;
    uint32_t offset;
    struct vod_numbers numbers;
};

/* Finds the bytes of the piece; false if there is no room for any. */
static bool find_bytes(const struct vod_feed *f, const struct cursor *c, struct piece *p)
{
    const uint8_t *data = p->part->data + p->from;
    size_t size = p->end - p->from, fits;
    struct vod_renumber patch;

    p->data = data;
    if (size == 0 || !f->counts || !vod_rtp_patch(f, p->part, &c->numbers, &patch))
        return true;
    if (!turn->scratch)
        turn->scratch = thread_own(SCRATCH, NULL);
    fits = vod_packets_within(data, size, SCRATCH - turn->used);
    if (fits == 0)
        return false;
    p->stops &= fits == size;
    p->end = p->from + (uint32_t)fits;
    p->data = turn->scratch + turn->used;
    vod_renumber_copy(&patch, turn->scratch + turn->used, data, fits);
    turn->used += fits;
    return true;
}

/* Finds the next piece, if any, and takes a reference to its part. */
static bool find_piece(const struct vod_feed *f, const struct cursor *c, int64_t wants,
                       const struct vod_part *part, struct piece *p)
{
    int64_t end = due_end(f, part, wants, &p->stops);
    bool whole = end == (int64_t)part->size;

    if (end < c->offset || (end == c->offset && !whole && !p->stops))
        return false;
    p->part = part;
    p->given = p->done = false;
    p->from = c->offset;
    p->end = (uint32_t)end;
    return find_bytes(f, c, p);
}

static const struct vod_part *get_part(struct vod_feed *f, struct cursor *c)
{
    const struct vod_part *part = NULL;
    enum vod_got got = vod_part_get(f->file, &f->use, &c->at, &c->numbers, &f->wait, &part);

    if (got == VOD_WAIT)
        f->waits = true;
    else if (got == VOD_FAILED && turn->n == 0) /* the pieces before it are still sent */
        vod_feed_fail(f);
    if (got != VOD_READY)
        return NULL;
    if (f->fresh) {
        vod_feed_adopt(f, part);
        c->numbers = f->numbers;
    }
    return part;
}

/* Adds one piece; false if there is none, or if it is the last. */
static bool take_piece(struct vod_feed *f, struct cursor *c, int64_t wants)
{
    const struct vod_part *part = get_part(f, c);
    struct piece *p = &turn->v[turn->n];

    if (!part)
        return false;
    if (!find_piece(f, c, wants, part, p)) {
        vod_part_put(f->file, part, false);
        return false;
    }
    turn->n++;
    if (p->end < part->size || p->stops || part->last || f->tracks != UINT32_MAX ||
        part->next_dts > wants)
        return false;
    c->at = part->next;
    c->offset = 0;
    vod_numbers_pass(&c->numbers, part);
    return true;
}

static int collect(struct vod_feed *f, struct iovec *iov, int max)
{
    struct cursor c = { .at = f->at, .offset = f->offset, .numbers = f->numbers };
    int64_t wants = vod_feed_wants(f);
    size_t bytes = 0;
    bool more = f->offset > 0 || f->next_dts <= wants;
    int n = 0;

    while (more && n < max && turn->n < PARTS && bytes < BYTES) {
        unsigned had = turn->n;
        const struct piece *p = &turn->v[had];

        more = take_piece(f, &c, wants);
        if (turn->n == had || p->end == p->from)
            continue;
        iov[n++] = (struct iovec){ (void *)(uintptr_t)p->data, p->end - p->from };
        bytes += p->end - p->from;
    }
    return n;
}

/* ---- after sending */

static bool is_whole(const struct piece *p, uint32_t upto)
{
    return upto == p->part->size && !p->stops;
}

static void note_sent(struct vod_feed *f, const struct piece *p, uint32_t upto)
{
    const struct vod_part *part = p->part;
    unsigned i = marks_until(part, p->from);

    for (; i < part->n && (i == 0 ? 0 : part->marks[i - 1].end) < upto; i++) {
        if (shown(&part->marks[i]) > f->sent_pts)
            f->sent_pts = shown(&part->marks[i]);
    }
}

/* The piece was sent up to `upto`, a boundary of packets. */
static void pass_piece(struct vod_feed *f, struct piece *p, uint32_t upto)
{
    const struct vod_part *part = p->part;
    unsigned i;

    if (upto > p->from)
        note_sent(f, p, upto);
    if (is_whole(p, upto)) {
        p->done = true;
        vod_feed_pass(f, part);
        return;
    }
    if (f->counts)
        vod_packets_count(part->data + p->from, upto - p->from, f->use.param, &f->now);
    i = marks_until(part, upto);
    if (i < part->n)
        f->next_dts = part->marks[i].dts;
    f->offset = upto;
    if (p->stops && upto == p->end)
        vod_feed_stop(f);
}

/* Returns the end of the packet that was sent in part. */
static uint32_t packet_end(const struct vod_feed *f, const struct piece *p, size_t sent)
{
    unsigned i;

    if (f->counts)
        return p->from + (uint32_t)vod_packets_end(p->data, p->end - p->from, sent);
    i = marks_until(p->part, p->from + (uint32_t)sent);
    if (i == 0 || p->part->marks[i - 1].end < p->from + sent)
        return i < p->part->n ? p->part->marks[i].end : p->end;
    return p->from + (uint32_t)sent;
}

/* Keeps the rest of a packet, which must be sent before anything else. */
static void hold_rest(struct vod_feed *f, struct piece *p, uint32_t at, uint32_t end)
{
    if (end - at <= COPY_MAX || p->data != p->part->data + p->from) {
        vod_feed_keep(f, p->data + (at - p->from), end - at);
        return;
    }
    f->cut = p->part;
    f->cut_at = at;
    f->cut_end = end;
    p->given = true;
}

static bool advance_piece(struct vod_feed *f, struct piece *p, size_t *sent)
{
    uint32_t size = p->end - p->from, end;

    if (*sent >= size) {
        pass_piece(f, p, p->end);
        *sent -= size;
        return true;
    }
    if (*sent > 0) {
        end = packet_end(f, p, *sent);
        if (end > p->from + *sent)
            hold_rest(f, p, p->from + (uint32_t)*sent, end);
        pass_piece(f, p, end); /* the final bytes follow it */
    }
    return false;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void advance_head(struct vod_feed *f, size_t *sent)
{
    size_t n = least(*sent, f->head.len - f->head_sent);
    size_t limit = f->head.limit;

    if (n == 0)
        return;
    *sent -= n;
    f->head_sent += n;
    f->head_kept = f->head.len;
    if (f->head_sent < f->head.len)
        return;
    wr_free(&f->head);
    wr_init(&f->head, limit);
    f->head_sent = f->head_kept = 0;
}

static void advance_cut(struct vod_feed *f, size_t *sent)
{
    size_t n = f->cut ? least(*sent, f->cut_end - f->cut_at) : 0;

    if (!f->cut)
        return;
    *sent -= n;
    f->cut_at += (uint32_t)n;
    if (f->cut_at < f->cut_end)
        return;
    vod_part_put(f->file, f->cut, true);
    f->cut = NULL;
}

static void advance_pieces(struct vod_feed *f, size_t sent)
{
    bool more = turn->owner == f;

    for (unsigned i = 0; more && i < turn->n; i++)
        more = advance_piece(f, &turn->v[i], &sent);
    vod_feed_turn_end(f);
}

void vod_feed_advance(struct live_feed *feed, size_t sent)
{
    struct vod_feed *f = container_of(feed, struct vod_feed, feed);

    advance_cut(f, &sent);
    advance_head(f, &sent);
    advance_pieces(f, sent);
}

/* ---- bytes that are sent first */

static int put_first(const struct vod_feed *f, struct iovec *iov)
{
    int n = 0;

    if (f->cut)
        iov[n++] = (struct iovec){ (void *)(uintptr_t)(f->cut->data + f->cut_at),
                                   f->cut_end - f->cut_at };
    if (f->head.len > f->head_sent)
        iov[n++] = (struct iovec){ f->head.buf + f->head_sent, f->head.len - f->head_sent };
    return n;
}

static bool goes_on(const struct vod_feed *f)
{
    return f->playing && !f->ended && !f->failed && !f->waits;
}

int vod_feed_ranges(struct live_feed *feed, struct iovec *iov, int max)
{
    struct vod_feed *f = container_of(feed, struct vod_feed, feed);
    int n = 0;

    begin_turn(f);
    if (goes_on(f))
        vod_feed_catch_up(f);
    for (int tries = 0; n == 0 && tries < TRIES; tries++) {
        if (goes_on(f) && !f->cut && f->head.len == 0)
            vod_feed_change_tracks(f);
        n = put_first(f, iov);
        if (goes_on(f))
            n += collect(f, iov + n, max - n);
        if (turn->n == 0)
            n = put_first(f, iov); /* more of it, where it failed */
        if (n > 0 || turn->n == 0)
            break;
        advance_pieces(f, 0); /* there is nothing in them */
        begin_turn(f);
    }
    return n;
}
