/* SPDX-License-Identifier: MIT */
/* candidates.c - compares the candidate addresses for WebRTC with those of this machine, and checks
 * the libraries for audio transcoding. */
#include "app/doctor/plan.h"

#include "session/address_limits.h"
#include "audio/lib.h"

#include <stdio.h>
#include <string.h>

static bool is_private(const char *ip)
{
    uint8_t addr[IP_SIZE];

    return ip_parse(ip, strlen(ip), addr) && address_is_private(addr);
}

static bool has(const struct doctor_plan *p, const char *ip)
{
    for (size_t i = 0; i < p->own_n; i++) {
        if (strcmp(p->own[i], ip) == 0)
            return true;
    }
    return false;
}

static void check_written(struct doctor_plan *p, const char *ip)
{
    uint8_t addr[IP_SIZE];

    if (!ip_parse(ip, strlen(ip), addr))
        ADD(p, DOCTOR_OK, "webrtc", ip, "a host name, sent to clients unchanged");
    else if (has(p, ip))
        ADD(p, DOCTOR_OK, "webrtc", ip, "sent to clients%s",
            is_private(ip) ? "; only reachable from this network" : "");
    else
        ADD(p, DOCTOR_WARN, "webrtc", ip,
            "no interface of this machine has it: only correct behind NAT or in a container");
    ADVISE(p, "forward %d/udp of that address to this machine, or configure another candidate",
           p->rtc_port);
}

static void check_own(struct doctor_plan *p)
{
    size_t open = 0;

    for (size_t i = 0; i < p->own_n; i++)
        open += !is_private(p->own[i]);
    ADD(p, open > 0 ? DOCTOR_OK : DOCTOR_WARN, "webrtc", "candidate",
        p->own_n == 0 ? "this machine has only loopback addresses"
        : open > 0    ? "the addresses of all interfaces are sent to clients"
                      : "all addresses of this machine are private: clients outside its network "
                        "cannot reach it");
    ADVISE(p, "for clients outside: rtc_server { candidate PUBLIC-ADDRESS; }, and forward %d/udp",
           p->rtc_port);
}

static void check_audio(struct doctor_plan *p)
{
    if (audio_lib_load())
        ADD(p, DOCTOR_OK, "webrtc", "sound",
            "AAC and MP3 are converted to Opus, and Opus to AAC, by %s", audio_lib_text());
    else
        ADD(p, DOCTOR_WARN, "webrtc", "sound",
            "audio is not converted: WebRTC gets no AAC, other protocols get Opus");
    ADVISE(p, "%s", audio_lib_lacks());
}

void doctor_check_candidates(struct doctor_plan *p)
{
    bool written = false;

    if (p->rtc_port == 0)
        return;
    if (p->audio)
        check_audio(p);
    for (size_t i = 0; i < p->candidates.n; i++) {
        const char *ip = p->candidates.v[i];

        if (strcmp(ip, "*") == 0 || strcmp(ip, "0.0.0.0") == 0)
            continue;
        check_written(p, ip);
        written = true;
    }
    if (!written)
        check_own(p);
}
