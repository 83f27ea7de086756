/* SPDX-License-Identifier: MIT */
/* srt_poll.c - what a player sees in packets of MPEG-TS. */
#include "tools/load/srt_hub.h"

#include "format/ts/mux.h"
#include "tools/load/watch.h"

#include <string.h>

enum { SYNC = 0x47, PID_NONE = 0x1fff, DISCONTINUITY = 0x80, RANDOM_ACCESS = 0x40 };

/* A packet, taken apart. */
struct part {
    uint16_t pid;
    uint8_t cc, flags;     /* of its adaptation field, 0 without */
    bool begins, has_payload;
    const uint8_t *payload;
    size_t size;
};

static bool take_apart(struct part *t, const uint8_t *p)
{
    size_t head = 4;

    *t = (struct part){ .pid = (uint16_t)((p[1] & 0x1f) << 8 | p[2]), .cc = p[3] & 0xf,
                        .begins = p[1] & 0x40, .has_payload = p[3] & 0x10 };
    if (p[3] & 0x20) {
        head += 1 + (size_t)p[4];
        t->flags = p[4] > 0 ? p[5] : 0;
    }
    t->payload = p + head;
    t->size = head < TS_PACKET ? TS_PACKET - head : 0;
    return p[0] == SYNC && head <= TS_PACKET;
}

static struct load_poll_pid *pid_of(struct load_poll *l, uint16_t pid)
{
    for (int i = 0; i < LOAD_LOOK_PIDS; i++) {
        if (!l->pids[i].known)
            l->pids[i].pid = pid;
        if (l->pids[i].pid == pid)
            return &l->pids[i];
    }
    return NULL;
}

static bool begins_pes(const struct part *t)
{
    return t->begins && t->size >= 4 && memcmp(t->payload, "\0\0\1", 3) == 0;
}

/* [TS] 2.4.3.3: the counter goes on with each packet that has a payload. Of media alone: tables are
 * put in front of where a player begins. */
static void count_on(struct load_poll *l, struct load_client *c, const struct part *t)
{
    struct load_poll_pid *p = t->pid == PID_NONE ? NULL : pid_of(l, t->pid);

    if (!p || !t->has_payload || (!p->known && !begins_pes(t)))
        return;
    if (p->known && ((p->cc + 1) & 0xf) != t->cc && !(t->flags & DISCONTINUITY))
        c->run->stat.srt.ts_faults++;
    p->known = true;
    p->cc = t->cc;
}

/* A PES packet of video begins. */
static void on_picture(struct load_client *c, const struct part *t, int64_t now)
{
    if (t->flags & RANDOM_ACCESS)
        load_watch_key(c);
    load_watch_came(c, now);
    if (load_marker_find_in(&c->marker, t->payload, t->size))
        load_watch_marker(c, now);
}

void load_poll(struct load_poll *l, struct load_client *c, const struct srt_message *m)
{
    int64_t now = load_wall();
    struct part t;

    load_watch_first(c);
    if (m->hole) {
        memset(l->pids, 0, sizeof(l->pids));
        c->run->stat.srt.holes++;
    }
    for (size_t at = 0; at + TS_PACKET <= m->size; at += TS_PACKET) {
        if (!take_apart(&t, m->data + at)) {
            c->run->stat.srt.ts_faults++;
            return;
        }
        count_on(l, c, &t);
        if (begins_pes(&t) && (t.payload[3] & 0xf0) == 0xe0)
            on_picture(c, &t, now);
    }
}
