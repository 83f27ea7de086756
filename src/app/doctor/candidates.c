/* SPDX-License-Identifier: MIT */
/* candidates.c - addresses that clients of WebRTC are told, against those that this machine has;
 * and libraries for its audio. */
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
        ADD(p, DOCTOR_OK, "webrtc", ip, "a name, which is told as it is written");
    else if (has(p, ip))
        ADD(p, DOCTOR_OK, "webrtc", ip, "clients are told of it%s",
            is_private(ip) ? "; it is of this network alone" : "");
    else
        ADD(p, DOCTOR_WARN, "webrtc", ip,
            "no interface of this machine has it: right behind NAT or in a container alone");
    ADVISE(p, "forward %d/udp of that address to this machine, or write another candidate",
           p->rtc_port);
}

static void check_own(struct doctor_plan *p)
{
    size_t open = 0;

    for (size_t i = 0; i < p->own_n; i++)
        open += !is_private(p->own[i]);
    ADD(p, open > 0 ? DOCTOR_OK : DOCTOR_WARN, "webrtc", "candidate",
        p->own_n == 0 ? "this machine has no address but loopback"
        : open > 0    ? "clients are told of the addresses of all interfaces"
                      : "all addresses of this machine are private: who is outside of its network "
                        "does not get here");
    ADVISE(p, "for others: rtc_server { candidate PUBLIC-ADDRESS; }, and forward %d/udp",
           p->rtc_port);
}

static void check_audio(struct doctor_plan *p)
{
    if (audio_lib_load())
        ADD(p, DOCTOR_OK, "webrtc", "sound", "AAC and MP3 become Opus, and Opus AAC, by %s",
            audio_lib_text());
    else
        ADD(p, DOCTOR_WARN, "webrtc", "sound",
            "AAC is not there for WebRTC, and Opus stays Opus for others");
    ADVISE(p, "%s", audio_lib_lacks());
}

void doctor_check_candidates(struct doctor_plan *p)
{
    bool written = false;

    if (p->rtc_port == 0)
        return;
    if (p->sound)
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
