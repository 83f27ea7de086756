/* SPDX-License-Identifier: MIT */
/* netgroup.c - flows with metadata 47 43, one per group of a session. */
#include "base/must.h"
#include "serve/rtmfp/peer_mail.h"
#include "serve/rtmfp/group_ring.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBER = 0x0b };

static const uint8_t metadata[] = { 0x47, 0x43 };

struct group_flow {
    struct group_flow *next;
    struct rtmfp_flow_in *in;
    struct rtmfp_flow_out *out; /* our flow that carries notifications; NULL: closed */
    bool joined;
};

struct rtmfp_membership {
    struct rtmfp_groups_of of;
    struct group_flow *flows;
};

static struct group_flow *flow_of(const struct rtmfp_peer *p, uint64_t id)
{
    struct group_flow *g = p->groups ? p->groups->flows : NULL;

    while (g && g->in->id != id)
        g = g->next;
    return g;
}

bool rtmfp_netgroup_opened(struct rtmfp_peer *p, struct rtmfp_flow_in *f)
{
    struct group_flow *g;

    if (!p->service->base.env->conf->rtmfp_server.groups_enabled)
        return false;
    if (!p->groups) {
        p->groups = must(calloc(1, sizeof(*p->groups)));
        p->groups->of.worker = p->service->base.env->worker;
        p->groups->of.session = p->id;
        memcpy(p->groups->of.peer_id, p->peer_id, RTMFP_PEER_ID);
    }
    g = must(calloc(1, sizeof(*g))); /* limited by the number of open flows */
    g->in = f;
    g->next = p->groups->flows;
    p->groups->flows = g;
    return true;
}

/* Returns false if too much is queued. Other members announce the peer, too. */
static bool send_member(struct group_flow *g, const uint8_t *peer_id)
{
    struct rtmfp_message *m;
    bool ok;

    if (!g->out)
        return false;
    m = rtmfp_message_new(1 + RTMFP_PEER_ID, co_clock());
    if (!m)
        return false;
    m->bytes[0] = MEMBER;
    memcpy(m->bytes + 1, peer_id, RTMFP_PEER_ID);
    ok = rtmfp_flow_out_write(g->out, m, true);
    rtmfp_message_unref(m);
    return ok;
}

/* A peer joined the group of one of its flows. */
static void on_member(struct rtmfp_peer *p, const struct rtmfp_message_to *m)
{
    struct group_flow *g = flow_of(p, m->flow);

    if (g && send_member(g, m->body.p))
        rtmfp_peer_touch(p);
}

void rtmfp_netgroup_flushed(struct rtmfp_peer *p)
{
    bool silent = p->session.pings > 1; /* the last ping may still be answered */

    if (p->groups && p->groups->of.silent != silent)
        rtmfp_netgroups_silent(p->shared->netgroups, &p->groups->of, silent);
}

static void notify_neighbours(struct rtmfp_peer *p, const struct rtmfp_joined *joined)
{
    struct rtmfp_message_to l = { .fn = on_member };

    l.body = rtmfp_bytes(p->peer_id, RTMFP_PEER_ID);
    for (size_t i = 0; i < joined->near; i++) {
        l.session = joined->neighbours[i].session;
        l.flow = joined->neighbours[i].flow;
        memcpy(l.peer_id, joined->neighbours[i].peer_id, RTMFP_PEER_ID);
        rtmfp_peer_mail(p->service, joined->neighbours[i].worker, &l);
    }
}

/* The first message joins the group; later ones are between peers. */
bool rtmfp_netgroup_message(struct rtmfp_peer *p, struct rtmfp_flow_in *f, const uint8_t *data,
                            size_t size)
{
    struct group_flow *g = flow_of(p, f->id);
    uint8_t id[RTMFP_GROUP_ID];
    struct rtmfp_joined joined;

    if (!g || g->joined)
        return g;
    if (!rtmfp_group_read(rtmfp_bytes(data, size), id) ||
        !rtmfp_netgroups_join(p->shared->netgroups, &p->groups->of, f->id, id, &joined))
        return false;
    g->joined = true;
    g->out = rtmfp_flow_open(&p->session, rtmfp_bytes(metadata, sizeof(metadata)), f,
                             RTMFP_COMMANDS);
    for (size_t i = 0; i < joined.n && send_member(g, joined.told[i]); i++)
        ;
    notify_neighbours(p, &joined);
    return true;
}

void rtmfp_netgroup_closed(struct rtmfp_peer *p, struct rtmfp_flow_in *f)
{
    struct group_flow **at = p->groups ? &p->groups->flows : NULL, *g;

    while (at && *at && (*at)->in != f)
        at = &(*at)->next;
    if (!at || !*at)
        return;
    g = *at;
    *at = g->next;
    rtmfp_netgroups_leave(p->shared->netgroups, &p->groups->of, f->id);
    if (g->out)
        rtmfp_flow_out_close(g->out);
    free(g);
}

void rtmfp_netgroup_done(struct rtmfp_peer *p, struct rtmfp_flow_out *f)
{
    for (struct group_flow *g = p->groups ? p->groups->flows : NULL; g; g = g->next) {
        if (g->out == f)
            g->out = NULL;
    }
}

void rtmfp_netgroup_end(struct rtmfp_peer *p)
{
    struct group_flow *g;

    if (!p->groups)
        return;
    rtmfp_netgroups_leave_all(p->shared->netgroups, &p->groups->of);
    while ((g = p->groups->flows)) {
        p->groups->flows = g->next;
        free(g);
    }
    free(p->groups);
    p->groups = NULL;
}
