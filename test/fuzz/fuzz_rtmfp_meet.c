/* SPDX-License-Identifier: MIT */
/* fuzz_rtmfp_meet.c - messages of sessions that want to be found and to find others: addresses of setPeerInfo,
 * claims of an id, messages that join a NetGroup, in any order. A peer is only introduced to existing
 * peers, at possible addresses. */
#include "base/ip.h"
#include "base/rd.h"
#include "fuzz.h"
#include "proto/rtmfp/rtmp.h"
#include "serve/rtmfp/directory.h"
#include "serve/rtmfp/group_ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 12, IDS = 6, PRESENCES = 10, MEMBERS = 20, FLOWS = 4, STEPS = 400 };

static struct who {
    struct rtmfp_presence *presence;
    struct rtmfp_seat seat;
    struct rtmfp_groups_of groups;
    uint8_t id[RTMFP_PEER_ID];
} who[SESSIONS];

static struct rtmfp_directory *directory;
static struct rtmfp_netgroups *groups;

static void set_up(void)
{
    directory = rtmfp_directory_new(PRESENCES);
    groups = rtmfp_netgroups_new(MEMBERS);
    for (unsigned i = 0; i < SESSIONS; i++) {
        memset(&who[i], 0, sizeof(who[i]));
        memset(who[i].id, 1 + (int)(i % IDS), RTMFP_PEER_ID);
        who[i].seat.worker = i % 3;
        who[i].seat.session = 1 + i;
        who[i].seat.at.ip[10] = who[i].seat.at.ip[11] = 0xff;
        who[i].seat.at.ip[12] = (uint8_t)(1 + i / 2);
        who[i].seat.at.port = (uint16_t)(1 + i);
        who[i].groups.worker = who[i].seat.worker;
        who[i].groups.session = 1 + i;
        memcpy(who[i].groups.peer_id, who[i].id, RTMFP_PEER_ID);
    }
}

static size_t presences(void)
{
    size_t n = 0;

    for (unsigned i = 0; i < SESSIONS; i++)
        n += who[i].presence != NULL;
    return n;
}

static size_t members(void)
{
    size_t n = 0;

    for (unsigned i = 0; i < SESSIONS; i++)
        n += who[i].groups.n;
    return n;
}

/* The owner of an id: an existing one with that id. */
static void check_seat(const struct rtmfp_seat *seat, const uint8_t *id)
{
    const struct who *w;

    assert(seat->session >= 1 && seat->session <= SESSIONS);
    w = &who[seat->session - 1];
    assert(w->presence && memcmp(w->id, id, RTMFP_PEER_ID) == 0);
    assert(seat->worker == w->seat.worker && udp_addr_same(&seat->at, &w->seat.at));
}

static void enter(struct who *w)
{
    struct rtmfp_seat holder;

    if (w->presence)
        return;
    w->presence = rtmfp_directory_enter(directory, w->id, &w->seat, &holder);
    if (!w->presence || holder.session == 0)
        return;
    assert(holder.session != w->seat.session);
    check_seat(&holder, w->id);
}

static void report(struct who *w, struct rd *in)
{
    struct rtmfp_address list[RTMFP_REPORTED_MAX + 2];
    size_t n = 0;

    if (!w->presence)
        return;
    for (unsigned left = rd_u8(in) % 11; left > 0; left--) {
        size_t size = rd_u8(in) % UDP_TEXT;
        char text[UDP_TEXT];

        size = size < rd_left(in) ? size : rd_left(in);
        if (size > 0)
            memcpy(text, rd_take(in, size), size);
        text[size] = '\0';
        n += rtmfp_address_of_text(&list[n], text);
    }
    assert(rtmfp_directory_report(directory, w->presence, list, n) <= n);
}

static void find(const struct who *asks, unsigned of)
{
    struct rtmfp_address told[RTMFP_TOLD_MAX];
    const uint8_t *id = who[of % SESSIONS].id;
    struct rtmfp_seat seat;
    size_t n = rtmfp_directory_find(directory, id, &asks->seat.at, &seat, told);

    assert(n <= RTMFP_TOLD_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct udp_addr *a = &told[i].at;

        assert(a->port != 0 && told[i].origin == (i ? RTMFP_LOCAL : RTMFP_OBSERVED));
        assert(!ip_is_v4(a->ip) || (a->ip[12] != 127 && a->ip[12] != 0 && a->ip[12] < 224));
    }
    if (n > 0) {
        check_seat(&seat, id);
        assert(udp_addr_same(&told[0].at, &seat.at));
    }
    for (unsigned i = 0; i < SESSIONS; i++) /* it has an owner */
        assert(n > 0 || !who[i].presence || memcmp(who[i].id, id, RTMFP_PEER_ID) != 0);
}

/* A session of that peer. */
static bool speaks(const uint8_t *id)
{
    bool does = false;

    for (unsigned i = 0; i < SESSIONS; i++)
        does |= memcmp(who[i].id, id, RTMFP_PEER_ID) == 0 && who[i].groups.n > 0 &&
                !who[i].groups.silent;
    return does;
}

static void join(struct who *w, struct rd *in)
{
    uint8_t id[RTMFP_GROUP_ID], flow = rd_u8(in) % FLOWS;
    size_t size = rd_u8(in), was = members();
    struct rtmfp_joined out;

    size = size < rd_left(in) ? size : rd_left(in);
    if (!rtmfp_group_read(rtmfp_bytes(rd_take(in, size), size), id) ||
        !rtmfp_netgroups_join(groups, &w->groups, flow, id, &out))
        return;
    assert(members() == was + 1 && out.n <= RTMFP_JOINER_TOLD && out.near <= RTMFP_NEAREST);
    for (size_t i = 0; i < out.n; i++)
        assert(memcmp(out.told[i], w->id, RTMFP_PEER_ID) != 0 && speaks(out.told[i]));
    for (size_t i = 0; i < out.near; i++) {
        const struct rtmfp_neighbour *n = &out.neighbours[i];

        assert(n->session >= 1 && n->session <= SESSIONS && who[n->session - 1].groups.n > 0);
        assert(n->worker == who[n->session - 1].groups.worker && n->flow < FLOWS);
        assert(memcmp(n->peer_id, who[n->session - 1].id, RTMFP_PEER_ID) == 0);
    }
}

static void leave(struct who *w)
{
    if (w->presence)
        rtmfp_directory_leave(directory, w->presence);
    w->presence = NULL;
    rtmfp_netgroups_leave_all(groups, &w->groups);
}

static void move(struct who *w, uint8_t to)
{
    w->seat.at.port = (uint16_t)(1 + to);
    if (w->presence)
        rtmfp_directory_move(directory, w->presence, &w->seat);
    rtmfp_netgroups_silent(groups, &w->groups, to & 1);
}

static void step(struct rd *in)
{
    uint8_t what = rd_u8(in);
    struct who *w = &who[(what >> 3) % SESSIONS];

    switch (what & 7) {
    case 0: enter(w); break;
    case 1: report(w, in); break;
    case 2: find(w, rd_u8(in)); break;
    case 3: join(w, in); break;
    case 4: rtmfp_netgroups_leave(groups, &w->groups, rd_u8(in) % FLOWS); break;
    case 5: leave(w); break;
    case 6: move(w, rd_u8(in)); break;
    default: rtmfp_directory_pass(directory, w->id, w->seat.worker, w->seat.session); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd in = rd_init(data, size);
    size_t n, of_groups;

    set_up();
    for (unsigned i = 0; i < STEPS && rd_left(&in) > 0; i++) {
        step(&in);
        assert(rtmfp_directory_count(directory) == presences());
        rtmfp_netgroups_count(groups, &of_groups, &n);
        assert(n == members() && n <= MEMBERS && of_groups <= n && (n == 0 || of_groups > 0));
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        leave(&who[i]);
    rtmfp_netgroups_count(groups, &of_groups, &n);
    assert(n == 0 && of_groups == 0 && rtmfp_directory_count(directory) == 0);
    rtmfp_netgroups_free(groups);
    rtmfp_directory_free(directory);
    return 0;
}
