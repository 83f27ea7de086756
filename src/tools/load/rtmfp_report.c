/* SPDX-License-Identifier: MIT */
/* rtmfp_report.c - what clients of RTMFP measured, as text and as JSON. */
#include "tools/load/stat.h"

#include <inttypes.h>

static double part(uint64_t of, uint64_t all, double unit)
{
    return all > 0 ? (double)of * unit / (double)all : 0;
}

/* Sessions a second, from the first one's keys to the last one's. */
static double opens_a_second(const struct load_rtmfp_stat *s)
{
    int64_t took = s->last_open - s->first_open;

    return s->opened > 1 && took > 0 ? (double)(s->opened - 1) * 1e6 / (double)took : 0;
}

static double kbps(uint64_t bytes, double seconds)
{
    return seconds > 0 ? (double)bytes * 8 / 1000 / seconds : 0;
}

static double loss(const struct load_rtmfp_stat *s)
{
    return part(s->lost, s->lost + s->replies, 100);
}

static double disconnected(const struct load_rtmfp_stat *s)
{
    return part(s->disconnects + s->timeouts, s->opened, 100);
}

void load_rtmfp_text(FILE *f, const struct load_stat *all, const struct load_report *r)
{
    const struct load_rtmfp_stat *s = &all->rtmfp;

    fprintf(f, "  sessions     asked %" PRIu64 ", opened %" PRIu64 ", %.0f a second, "
               "%.2f startup packets each\n",
            all->sessions, s->opened, opens_a_second(s), part(s->startup_sent, s->startup, 1));
    load_report_text_ms(f, "open", &s->open);
    fprintf(f, "  pings        %" PRIu64 ", replies %" PRIu64 ", lost %" PRIu64 " (%.3f %%)\n",
            s->pings, s->replies, s->lost, loss(s));
    load_report_text_ms(f, "round trip", &s->rtt);
    fprintf(f, "  ended        disconnected %.3f %%, timeouts %" PRIu64 ", left silently %" PRIu64
               ", moved %" PRIu64 "\n",
            disconnected(s), s->timeouts, s->silent, s->moves);
    fprintf(f, "  network      in %.0f, out %.0f kbit/s; not of our keys %" PRIu64
               ", overflow %" PRIu64 "\n",
            kbps(all->bytes_in, r->seconds), kbps(all->bytes_out, r->seconds), s->forged,
            s->overflow);
    if (s->pairs > 0) {
        fprintf(f, "  pairs        asked %" PRIu64 ", met %" PRIu64 ", told of it %" PRIu64 "\n",
                s->pairs, s->met, s->forwarded);
        load_report_text_ms(f, "met", &s->meet);
    }
    if (all->lag.count > 0)
        fprintf(f, "  published    messages %" PRIu64 ", given up %" PRIu64 "\n", all->messages,
                s->unsent);
    if (s->server)
        fprintf(f, "  server       %.0f us of CPU an open, %.2f %% of a core since the mark, "
                   "%.2f KB a session\n",
                s->cpu_open, s->cpu_steady, s->kb_session);
}

void load_rtmfp_json(FILE *f, const struct load_stat *all, const struct load_report *r)
{
    const struct load_rtmfp_stat *s = &all->rtmfp;

    fprintf(f, ",\n  \"opened\": %" PRIu64 ",\n  \"opens_per_second\": %.1f"
               ",\n  \"startup_packets\": %.3f",
            s->opened, opens_a_second(s), part(s->startup_sent, s->startup, 1));
    load_report_json_ms(f, "open_ms", &s->open);
    fprintf(f, ",\n  \"pings\": %" PRIu64 ",\n  \"replies\": %" PRIu64 ",\n  \"lost\": %" PRIu64
               ",\n  \"loss_percent\": %.4f",
            s->pings, s->replies, s->lost, loss(s));
    load_report_json_ms(f, "rtt_ms", &s->rtt);
    fprintf(f, ",\n  \"disconnected_percent\": %.4f,\n  \"timeouts\": %" PRIu64
               ",\n  \"silent\": %" PRIu64 ",\n  \"moves\": %" PRIu64 ",\n  \"forged\": %" PRIu64
               ",\n  \"overflow\": %" PRIu64 ",\n  \"unsent\": %" PRIu64,
            disconnected(s), s->timeouts, s->silent, s->moves, s->forged, s->overflow, s->unsent);
    fprintf(f, ",\n  \"pairs\": %" PRIu64 ",\n  \"met\": %" PRIu64 ",\n  \"forwarded\": %" PRIu64,
            s->pairs, s->met, s->forwarded);
    load_report_json_ms(f, "meet_ms", &s->meet);
    fprintf(f, ",\n  \"in_kbps\": %.1f,\n  \"out_kbps\": %.1f", kbps(all->bytes_in, r->seconds),
            kbps(all->bytes_out, r->seconds));
    if (s->server)
        fprintf(f, ",\n  \"server_cpu_us_per_open\": %.1f,\n  \"server_cpu_percent\": %.3f"
                   ",\n  \"server_kb_per_session\": %.3f",
                s->cpu_open, s->cpu_steady, s->kb_session);
}
