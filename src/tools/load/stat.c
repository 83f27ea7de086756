/* SPDX-License-Identifier: MIT */
/* stat.c - what all clients of a load tool measured, and the report of it: rows. */
#include "tools/load/stat.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

void load_stat_fail(struct load_stat *s, err_t err)
{
    s->failed++;
    for (int i = 0; i < LOAD_REASONS; i++) {
        struct load_reason *r = &s->reasons[i];

        if (r->count == 0) {
            r->code = err_code(err);
            (void)err_text(err, r->text, sizeof(r->text));
        }
        if (r->code == err_code(err)) {
            r->count++;
            return;
        }
    }
}

void load_stat_refused(struct load_stat *s, int status)
{
    for (int i = 0; i < LOAD_REFUSALS; i++) {
        struct load_refused *r = &s->rtp.refused[i];

        if (r->count == 0)
            r->status = status;
        if (r->status == status) {
            r->count++;
            return;
        }
    }
}

/* In each part what is counted from the mark stands last. */
#define FORGET(from_here, field) \
    memset(&(from_here).field, 0, \
           sizeof(from_here) - offsetof(__typeof__(from_here), field))

void load_stat_mark(struct load_stat *s)
{
    FORGET(s->hls, lists);
    FORGET(s->rtp, packets);
    FORGET(s->srt, packets);
    FORGET(s->rtc, packets);
    FORGET(s->rtmfp, pings);
    memset(&s->bytes_in, 0, offsetof(struct load_stat, hls) - offsetof(struct load_stat, bytes_in));
}

/* ------------------------------------------------------------ rows */

/* Of text: a line with a '#' for each counter. Of JSON: the name of one. With a unit: of one
 * histogram, in µs divided by it. */
struct row {
    const char *text;
    double unit;
    size_t at[8];
};

#define AT(field) offsetof(struct load_stat, field)
#define COUNT(name, field) { name, 0, { AT(field) } }
#define TIME(name, field) { name, 1000, { AT(field) } }
#define END { NULL, 0, { 0 } }

static const struct row times_text[] = {
    TIME("connect", connect), TIME("first byte", first_byte), TIME("first packet", first_packet),
    TIME("first key", first_key), END
};
static const struct row gaps_text[] = {
    { "  faults       stalls #, late frames #, dropped #, backwards #", 0,
      { AT(stalls), AT(late), AT(drops), AT(backwards) } },
    END
};
static const struct row hls_text[] = {
    TIME("first list", hls.first_list), TIME("first media", hls.first_segment),
    { "  fetched      lists #, segments #, parts # (hinted #); skipped #, jumps #", 0,
      { AT(hls.lists), AT(hls.segments), AT(hls.parts), AT(hls.hints), AT(hls.skipped),
        AT(hls.jumps) } },
    COUNT("  stalls       #", stalls),
    TIME("stalled", hls.stall), TIME("fetch", hls.fetch), TIME("behind edge", hls.edge), END
};
static const struct row rtsp_text[] = {
    { "  packets      #, lost #, reordered #, restarts #, odd #, overflow #; sender reports #", 0,
      { AT(rtp.packets), AT(rtp.lost), AT(rtp.reordered), AT(rtp.restarts), AT(rtp.odd),
        AT(rtp.overflow), AT(rtp.reports) } },
    { "  RTP faults   marker #, time #, RTP-Info #", 0,
      { AT(rtp.marker_faults), AT(rtp.time_faults), AT(rtp.info_faults) } },
    END
};
static const struct row rtsp_publish_text[] = { COUNT("  packets      #", rtp.packets), END };
static const struct row srt_text[] = {
    { "  packets      #, lost #, repeated #, too late #, belated #, doubled #", 0,
      { AT(srt.packets), AT(srt.lost), AT(srt.repeated), AT(srt.too_late), AT(srt.belated),
        AT(srt.doubled) } },
    { "  faults       not decrypted #, holes #, TS #, skips #, overflow #", 0,
      { AT(srt.undecrypted), AT(srt.holes), AT(srt.ts_faults), AT(srt.skips), AT(srt.overflow) } },
    TIME("round trip", srt.rtt), TIME("agreed", srt.latency), END
};
static const struct row rtc_text[] = {
    TIME("answer", rtc.answer),
    { "  packets      #, lost #, asked for #, repaired #, PLI #, reports #", 0,
      { AT(rtc.packets), AT(rtc.lost), AT(rtc.nacks), AT(rtc.repaired), AT(rtc.plis),
        AT(rtc.reports) } },
    { "  faults       not authenticated #, odd #, restarts #", 0,
      { AT(rtc.forged), AT(rtc.odd), AT(rtc.restarts) } },
    END
};
static const struct row end_text[] = { TIME("latency", latency), TIME("sent after", lag), END };

static const struct row sessions_json[] = {
    COUNT("sessions", sessions), COUNT("connected", connected), COUNT("ended", ended),
    COUNT("reconnected", churned), COUNT("failed", failed), END
};
static const struct row traffic_json[] = {
    COUNT("bytes_in", bytes_in), COUNT("bytes_out", bytes_out), COUNT("messages", messages), END
};
static const struct row times_json[] = {
    TIME("connect_ms", connect), TIME("first_byte_ms", first_byte),
    TIME("first_packet_ms", first_packet), TIME("first_key_ms", first_key), END
};
static const struct row media_json[] = {
    COUNT("stalls", stalls), COUNT("late", late), COUNT("drops", drops),
    COUNT("backwards", backwards), COUNT("audio", audio), COUNT("audio_missing", audio_missing), END
};
static const struct row end_json[] = { TIME("latency_ms", latency), TIME("lag_ms", lag), END };
static const struct row hls_json[] = {
    TIME("first_list_ms", hls.first_list), TIME("first_segment_ms", hls.first_segment),
    COUNT("lists", hls.lists), COUNT("segments", hls.segments), COUNT("parts", hls.parts),
    COUNT("hints", hls.hints), COUNT("skipped", hls.skipped), COUNT("jumps", hls.jumps),
    TIME("fetch_ms", hls.fetch), TIME("edge_ms", hls.edge), TIME("stall_ms", hls.stall), END
};
static const struct row rtsp_json[] = {
    COUNT("packets", rtp.packets), COUNT("sender_reports", rtp.reports), COUNT("lost", rtp.lost),
    COUNT("reordered", rtp.reordered), COUNT("restarts", rtp.restarts),
    COUNT("marker_faults", rtp.marker_faults), COUNT("time_faults", rtp.time_faults),
    COUNT("info_faults", rtp.info_faults), COUNT("odd", rtp.odd), COUNT("overflow", rtp.overflow),
    END
};
static const struct row srt_json[] = {
    COUNT("packets", srt.packets), COUNT("lost", srt.lost), COUNT("repeated", srt.repeated),
    COUNT("too_late", srt.too_late), COUNT("belated", srt.belated), COUNT("doubled", srt.doubled),
    COUNT("undecrypted", srt.undecrypted), COUNT("holes", srt.holes),
    COUNT("ts_faults", srt.ts_faults), COUNT("skips", srt.skips), COUNT("overflow", srt.overflow),
    TIME("rtt_ms", srt.rtt), TIME("agreed_ms", srt.latency), END
};
static const struct row rtc_json[] = {
    TIME("answer_ms", rtc.answer), COUNT("packets", rtc.packets), COUNT("lost", rtc.lost),
    COUNT("nacks", rtc.nacks), COUNT("repaired", rtc.repaired), COUNT("plis", rtc.plis),
    COUNT("reports", rtc.reports), COUNT("forged", rtc.forged), COUNT("odd", rtc.odd),
    COUNT("restarts", rtc.restarts), END
};

static const struct section {
    enum load_tools kind;
    bool refused;
    const struct row *text, *json;
} sections[] = {
    { LOAD_HLS, false, hls_text, hls_json },
    { LOAD_RTSP, true, rtsp_text, rtsp_json },
    { LOAD_RTSP_PUBLISH, true, rtsp_publish_text, rtsp_json },
    { LOAD_SRT, true, srt_text, srt_json },
    { LOAD_RTC, true, rtc_text, rtc_json },
};

static const struct section *section_of(enum load_tools kind)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (sections[i].kind == kind)
            return &sections[i];
    return NULL;
}

static const void *at(const struct load_stat *s, size_t offset)
{
    return (const char *)s + offset;
}

/* ------------------------------------------------------------ text */

/* Of pictures with a clock in them, those that were lost included. */
static double in_time(const struct load_stat *s)
{
    uint64_t all = s->latency.count + s->drops;

    return all > 0 ? 100 * (double)s->in_time / (double)all : 0;
}

static double mbps(uint64_t bytes, double seconds)
{
    return seconds > 0 ? (double)bytes * 8 / 1e6 / seconds : 0;
}

void load_report_line(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    fprintf(f, "[report] [%d] threads:1 alive:%d duration:%.0f tduration:%.0f nread:%.2f "
               "nwrite:%.2f tasks:%" PRIu64 " etasks:%" PRIu64 " stasks:0 estasks:0\n",
            (int)getpid(), r->alive, r->seconds, r->total_seconds, mbps(s->bytes_in, r->seconds),
            mbps(s->bytes_out, r->seconds), s->sessions, s->failed);
    fflush(f);
}

void load_report_text_ms(FILE *f, const char *name, const struct load_hist *h)
{
    if (h->count == 0)
        return;
    fprintf(f, "  %-12s p50 %.1f  p99 %.1f  max %.1f ms  (of %" PRIu64 ")\n", name,
            (double)load_hist_at(h, 0.5) / 1000, (double)load_hist_at(h, 0.99) / 1000,
            (double)h->max / 1000, h->count);
}

static void text_line(FILE *f, const struct load_stat *s, const struct row *row)
{
    size_t n = 0;

    for (const char *p = row->text; *p; p++) {
        if (*p == '#')
            fprintf(f, "%" PRIu64, *(const uint64_t *)at(s, row->at[n++]));
        else
            fputc(*p, f);
    }
    fputc('\n', f);
}

static void text_rows(FILE *f, const struct load_stat *s, const struct row *row)
{
    for (; row->text; row++) {
        if (row->unit > 0)
            load_report_text_ms(f, row->text, at(s, row->at[0]));
        else
            text_line(f, s, row);
    }
}

static void text_counts(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    fprintf(f, "  clients      %d, alive %d, connected %" PRIu64 ", failed %" PRIu64
               ", ended %" PRIu64 ", reconnected %" PRIu64 "\n",
            r->clients, r->alive, s->connected, s->failed, s->ended, s->churned);
    for (int i = 0; i < LOAD_REASONS && s->reasons[i].count > 0; i++)
        fprintf(f, "  failed       %" PRIu64 ": %s\n", s->reasons[i].count, s->reasons[i].text);
    fprintf(f, "  traffic      read %.2f Mbit/s, written %.2f Mbit/s, %" PRIu64
               " messages in %.1f s\n",
            mbps(s->bytes_in, r->seconds), mbps(s->bytes_out, r->seconds), s->messages, r->seconds);
    if (r->rate.count > 0)
        fprintf(f, "  rate         min %" PRIu64 "  p50 %" PRIu64 "  max %" PRIu64
                   " kbit/s a client\n",
                load_hist_at(&r->rate, 0), load_hist_at(&r->rate, 0.5), r->rate.max);
    if (r->media_kbps > 0)
        fprintf(f, "  file         %.0f kbit/s\n", r->media_kbps);
}

static void text_section(FILE *f, const struct load_stat *s, const struct section *part)
{
    const struct load_refused *r = s->rtp.refused;

    for (int i = 0; part->refused && i < LOAD_REFUSALS && r[i].count > 0; i++)
        fprintf(f, "  refused      %" PRIu64 " with %d\n", r[i].count, r[i].status);
    text_rows(f, s, part->text);
}

void load_report_text(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    const struct section *part = section_of(r->kind);

    fprintf(f, "%s %s, %.1f s\n", r->tool, r->url, r->total_seconds);
    text_counts(f, s, r);
    text_rows(f, s, times_text);
    if (r->gaps) {
        load_report_text_ms(f, "longest gap", &r->gap);
        text_rows(f, s, gaps_text);
        fprintf(f, "  complete     pictures in time %.2f %%, audio %" PRIu64 ", missing %" PRIu64
                   "\n",
                in_time(s), s->audio, s->audio_missing);
    }
    if (part)
        text_section(f, s, part);
    if (r->kind == LOAD_RTMFP)
        load_rtmfp_text(f, s, r);
    text_rows(f, s, end_text);
    fprintf(f, "  this tool    %.1f %% of a core, %.1f MB\n", r->cpu, (double)r->rss_kb / 1024);
    fflush(f);
}

/* ------------------------------------------------------------ JSON */

static void json_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', f);
        if ((unsigned char)*s < 0x20)
            fprintf(f, "\\u%04x", (unsigned)*s);
        else
            fputc(*s, f);
    }
    fputc('"', f);
}

static void json_hist(FILE *f, const char *name, const struct load_hist *h, double unit)
{
    fprintf(f, ",\n  \"%s\": {\"count\": %" PRIu64 ", \"min\": %.3f, \"mean\": %.3f, "
               "\"p50\": %.3f, \"p90\": %.3f, \"p99\": %.3f, \"max\": %.3f}",
            name, h->count, (double)load_hist_at(h, 0) / unit, load_hist_mean(h) / unit,
            (double)load_hist_at(h, 0.5) / unit, (double)load_hist_at(h, 0.9) / unit,
            (double)load_hist_at(h, 0.99) / unit, (double)h->max / unit);
}

void load_report_json_ms(FILE *f, const char *name, const struct load_hist *h)
{
    json_hist(f, name, h, 1000);
}

static void json_rows(FILE *f, const struct load_stat *s, const struct row *row)
{
    for (; row->text; row++) {
        if (row->unit > 0)
            json_hist(f, row->text, at(s, row->at[0]), row->unit);
        else
            fprintf(f, ",\n  \"%s\": %" PRIu64, row->text, *(const uint64_t *)at(s, row->at[0]));
    }
}

static void json_reasons(FILE *f, const struct load_stat *s)
{
    fputs(",\n  \"reasons\": [", f);
    for (int i = 0; i < LOAD_REASONS && s->reasons[i].count > 0; i++) {
        fprintf(f, "%s{\"code\": %d, \"count\": %" PRIu64 ", \"text\": ", i ? ", " : "",
                s->reasons[i].code, s->reasons[i].count);
        json_string(f, s->reasons[i].text);
        fputc('}', f);
    }
    fputc(']', f);
}

static void json_section(FILE *f, const struct load_stat *s, const struct section *part)
{
    const struct load_refused *r = s->rtp.refused;

    if (part->refused) {
        fputs(",\n  \"refused\": {", f);
        for (int i = 0; i < LOAD_REFUSALS && r[i].count > 0; i++)
            fprintf(f, "%s\"%d\": %" PRIu64, i ? ", " : "", r[i].status, r[i].count);
        fputc('}', f);
    }
    json_rows(f, s, part->json);
}

void load_report_json(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    const struct section *part = section_of(r->kind);

    fputs("{\n  \"tool\": ", f);
    json_string(f, r->tool);
    fputs(",\n  \"url\": ", f);
    json_string(f, r->url);
    fprintf(f, ",\n  \"pid\": %d,\n  \"clients\": %d,\n  \"alive\": %d", (int)getpid(), r->clients,
            r->alive);
    fprintf(f, ",\n  \"seconds\": %.3f,\n  \"total_seconds\": %.3f", r->seconds, r->total_seconds);
    json_rows(f, s, sessions_json);
    json_reasons(f, s);
    json_rows(f, s, traffic_json);
    fprintf(f, ",\n  \"read_mbps\": %.3f,\n  \"write_mbps\": %.3f", mbps(s->bytes_in, r->seconds),
            mbps(s->bytes_out, r->seconds));
    json_hist(f, "rate_kbps", &r->rate, 1);
    fprintf(f, ",\n  \"media_kbps\": %.3f", r->media_kbps);
    json_rows(f, s, times_json);
    load_report_json_ms(f, "gap_ms", &r->gap);
    json_rows(f, s, media_json);
    fprintf(f, ",\n  \"in_time_percent\": %.3f", in_time(s));
    json_rows(f, s, end_json);
    if (part)
        json_section(f, s, part);
    if (r->kind == LOAD_RTMFP)
        load_rtmfp_json(f, s, r);
    fprintf(f, ",\n  \"cpu_percent\": %.2f,\n  \"rss_kb\": %ld\n}\n", r->cpu, r->rss_kb);
    fflush(f);
}
