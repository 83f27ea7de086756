/* SPDX-License-Identifier: MIT */
/* candidates.c - addresses by which clients of WebRTC are told to come, against those that this
 * machine has; and libraries for its sound. */
#include "app/doctor/plan.h"

#include "base/ip.h"
#include "sound/lib.h"

#include <stdio.h>
#include <string.h>

static bool is_private(const char *ip)
{
    static const struct {
        const char *net;
        int bits;
    } nets[] = { /* RFC 1918, 6598, 3927, 4193, 4291; loopback */
        { "10.0.0.0", 8 }, { "172.16.0.0", 12 }, { "192.168.0.0", 16 }, { "100.64.0.0", 10 },
        { "169.254.0.0", 16 }, { "127.0.0.0", 8 }, { "fc00::", 7 }, { "fe80::", 10 },
        { "::1", 128 },
    };
    uint8_t addr[IP_SIZE], net[IP_SIZE];

    if (!ip_parse(ip, strlen(ip), addr))
        return false;
    for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
        (void)ip_parse(nets[i].net, strlen(nets[i].net), net);
        if (ip_is_v4(addr) == ip_is_v4(net) &&
            ip_in_network(addr, net, nets[i].bits + (ip_is_v4(net) ? 96 : 0)))
            return true;
    }
    return false;
}

static bool has(const struct doctor_plan *p, const char *ip)
{
    for (size_t i = 0; i < p->own_n; i++) {
        if (strcmp(p->own[i], ip) == 0)
            return true;
    }
    return false;
}

static void look_at(struct doctor_plan *p, const char *ip)
{
    uint8_t addr[IP_SIZE];

    if (!ip_parse(ip, strlen(ip), addr))
        doctor_add(&p->report, DOCTOR_OK, "webrtc", ip, "a name, which is told as it is written");
    else if (has(p, ip))
        doctor_add(&p->report, DOCTOR_OK, "webrtc", ip, "clients are told of it%s",
                   is_private(ip) ? "; it is of this network alone" : "");
    else {
        doctor_add(&p->report, DOCTOR_WARN, "webrtc", ip,
                   "no interface of this machine has it: right behind NAT or in a container alone");
        doctor_advise(&p->report, "forward %d/udp of that address to this machine, or write "
                      "another candidate", p->rtc_port);
    }
}

static void look_at_own(struct doctor_plan *p)
{
    size_t open = 0;

    for (size_t i = 0; i < p->own_n; i++)
        open += !is_private(p->own[i]);
    doctor_add(&p->report, open > 0 ? DOCTOR_OK : DOCTOR_WARN, "webrtc", "candidate",
               p->own_n == 0 ? "this machine has no address but loopback"
               : open > 0    ? "clients are told of the addresses of all interfaces"
                             : "all addresses of this machine are private: who is outside of its "
                               "network does not get here");
    if (open == 0)
        doctor_advise(&p->report, "for others: rtc_server { candidate PUBLIC-ADDRESS; }, and "
                      "forward %d/udp", p->rtc_port);
}

static void look_at_sound(struct doctor_plan *p)
{
    if (sound_lib_load()) {
        doctor_add(&p->report, DOCTOR_OK, "webrtc", "sound", "AAC and MP3 become Opus, and Opus "
                   "AAC, by %s", sound_lib_text());
        return;
    }
    doctor_add(&p->report, DOCTOR_WARN, "webrtc", "sound",
               "AAC is not there for WebRTC, and Opus stays Opus for others");
    doctor_advise(&p->report, "%s", sound_lib_lacks());
}

void doctor_look_candidates(struct doctor_plan *p)
{
    if (p->rtc_port == 0)
        return;
    if (p->sound)
        look_at_sound(p);
    if (p->candidates_n == 0)
        look_at_own(p);
    for (size_t i = 0; i < p->candidates_n; i++)
        look_at(p, p->candidates[i]);
}
