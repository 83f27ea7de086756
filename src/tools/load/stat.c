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

/* Of text: a line with a '#' for each counter, and a '~2' for a real number with two digits. Of
 * JSON: the name of one. With a unit: of one histogram, in µs divided by it; below 0: of a real
 * number with so many digits. */
struct row {
    int tools;
    const char *text;
    int unit;
    size_t at[8];
};

/* Rows that not every run of a tool has. */
enum { GAPS = 1 << 20, SERVER = 1 << 21, PAIRS = 1 << 22, PUBLISHED = 1 << 23 };

#define AT(field) offsetof(struct load_stat, field)
#define COUNT(tools, name, field) { tools, name, 0, { AT(field) } }
#define TIME(tools, name, field) { tools, name, 1000, { AT(field) } }
#define REAL(tools, name, digits, field) { tools, name, -(digits), { AT(field) } }

static const struct row text[] = {
    TIME(LOAD_ALL, "connect", connect), TIME(LOAD_ALL, "first byte", first_byte),
    TIME(LOAD_ALL, "first packet", first_packet), TIME(LOAD_ALL, "first key", first_key),
    TIME(GAPS, "longest gap", now.gap),
    { GAPS, "  faults       stalls #, late frames #, dropped #, backwards #", 0,
      { AT(stalls), AT(late), AT(drops), AT(backwards) } },
    { GAPS, "  complete     pictures in time ~2 %, audio #, missing #", 0,
      { AT(now.in_time), AT(audio), AT(audio_missing) } },
    TIME(LOAD_HLS, "first list", hls.first_list), TIME(LOAD_HLS, "first media", hls.first_segment),
    { LOAD_HLS, "  fetched      lists #, segments #, parts # (hinted #); skipped #, jumps #", 0,
      { AT(hls.lists), AT(hls.segments), AT(hls.parts), AT(hls.hints), AT(hls.skipped),
        AT(hls.jumps) } },
    COUNT(LOAD_HLS, "  stalls       #", stalls), TIME(LOAD_HLS, "stalled", hls.stall),
    TIME(LOAD_HLS, "fetch", hls.fetch), TIME(LOAD_HLS, "behind edge", hls.edge),
    { LOAD_RTSP,
      "  packets      #, lost #, reordered #, restarts #, odd #, overflow #; sender reports #", 0,
      { AT(rtp.packets), AT(rtp.lost), AT(rtp.reordered), AT(rtp.restarts), AT(rtp.odd),
        AT(rtp.overflow), AT(rtp.reports) } },
    { LOAD_RTSP, "  RTP faults   marker #, time #, RTP-Info #", 0,
      { AT(rtp.marker_faults), AT(rtp.time_faults), AT(rtp.info_faults) } },
    COUNT(LOAD_RTSP_PUBLISH, "  packets      #", rtp.packets),
    { LOAD_SRT, "  packets      #, lost #, repeated #, too late #, belated #, doubled #", 0,
      { AT(srt.packets), AT(srt.lost), AT(srt.repeated), AT(srt.too_late), AT(srt.belated),
        AT(srt.doubled) } },
    { LOAD_SRT, "  faults       not decrypted #, holes #, TS #, skips #, overflow #", 0,
      { AT(srt.undecrypted), AT(srt.holes), AT(srt.ts_faults), AT(srt.skips), AT(srt.overflow) } },
    TIME(LOAD_SRT, "round trip", srt.rtt), TIME(LOAD_SRT, "agreed", srt.latency),
    TIME(LOAD_RTC, "answer", rtc.answer),
    { LOAD_RTC, "  packets      #, lost #, asked for #, repaired #, PLI #, reports #", 0,
      { AT(rtc.packets), AT(rtc.lost), AT(rtc.nacks), AT(rtc.repaired), AT(rtc.plis),
        AT(rtc.reports) } },
    { LOAD_RTC, "  faults       not authenticated #, odd #, restarts #", 0,
      { AT(rtc.forged), AT(rtc.odd), AT(rtc.restarts) } },
    { LOAD_RTMFP, "  sessions     asked #, opened #, ~0 a second, ~2 startup packets each", 0,
      { AT(sessions), AT(rtmfp.opened), AT(now.opens), AT(now.startup) } },
    TIME(LOAD_RTMFP, "open", rtmfp.open),
    { LOAD_RTMFP, "  pings        #, replies #, lost # (~3 %)", 0,
      { AT(rtmfp.pings), AT(rtmfp.replies), AT(rtmfp.lost), AT(now.loss) } },
    TIME(LOAD_RTMFP, "round trip", rtmfp.rtt),
    { LOAD_RTMFP, "  ended        disconnected ~3 %, timeouts #, left silently #, moved #", 0,
      { AT(now.disconnected), AT(rtmfp.timeouts), AT(rtmfp.silent), AT(rtmfp.moves) } },
    { LOAD_RTMFP, "  network      in ~0, out ~0 kbit/s; not of our keys #, overflow #", 0,
      { AT(now.in_kbps), AT(now.out_kbps), AT(rtmfp.forged), AT(rtmfp.overflow) } },
    { PAIRS, "  pairs        asked #, met #, told of it #", 0,
      { AT(rtmfp.pairs), AT(rtmfp.met), AT(rtmfp.forwarded) } },
    TIME(PAIRS, "met", rtmfp.meet),
    { PUBLISHED, "  published    messages #, given up #", 0, { AT(messages), AT(rtmfp.unsent) } },
    { SERVER, "  server       ~0 us of CPU an open, ~2 % of a core since the mark, ~2 KB a session",
      0, { AT(rtmfp.cpu_open), AT(rtmfp.cpu_steady), AT(rtmfp.kb_session) } },
    TIME(LOAD_ALL, "latency", latency), TIME(LOAD_ALL, "sent after", lag),
};

enum { RTSP = LOAD_RTSP_BOTH, RTMFP = LOAD_RTMFP, ALL = LOAD_ALL };

static const struct row json[] = {
    COUNT(ALL, "sessions", sessions), COUNT(ALL, "connected", connected),
    COUNT(ALL, "ended", ended), COUNT(ALL, "reconnected", churned), COUNT(ALL, "failed", failed),
    COUNT(ALL, "bytes_in", bytes_in), COUNT(ALL, "bytes_out", bytes_out),
    COUNT(ALL, "messages", messages), REAL(ALL, "read_mbps", 3, now.read_mbps),
    REAL(ALL, "write_mbps", 3, now.write_mbps), { ALL, "rate_kbps", 1, { AT(now.rate) } },
    REAL(ALL, "media_kbps", 3, now.media_kbps), TIME(ALL, "connect_ms", connect),
    TIME(ALL, "first_byte_ms", first_byte), TIME(ALL, "first_packet_ms", first_packet),
    TIME(ALL, "first_key_ms", first_key), TIME(ALL, "gap_ms", now.gap),
    COUNT(ALL, "stalls", stalls), COUNT(ALL, "late", late), COUNT(ALL, "drops", drops),
    COUNT(ALL, "backwards", backwards), COUNT(ALL, "audio", audio),
    COUNT(ALL, "audio_missing", audio_missing), REAL(ALL, "in_time_percent", 3, now.in_time),
    TIME(ALL, "latency_ms", latency), TIME(ALL, "lag_ms", lag),
    TIME(LOAD_HLS, "first_list_ms", hls.first_list),
    TIME(LOAD_HLS, "first_segment_ms", hls.first_segment), COUNT(LOAD_HLS, "lists", hls.lists),
    COUNT(LOAD_HLS, "segments", hls.segments), COUNT(LOAD_HLS, "parts", hls.parts),
    COUNT(LOAD_HLS, "hints", hls.hints), COUNT(LOAD_HLS, "skipped", hls.skipped),
    COUNT(LOAD_HLS, "jumps", hls.jumps), TIME(LOAD_HLS, "fetch_ms", hls.fetch),
    TIME(LOAD_HLS, "edge_ms", hls.edge), TIME(LOAD_HLS, "stall_ms", hls.stall),
    COUNT(RTSP, "packets", rtp.packets), COUNT(RTSP, "sender_reports", rtp.reports),
    COUNT(RTSP, "lost", rtp.lost), COUNT(RTSP, "reordered", rtp.reordered),
    COUNT(RTSP, "restarts", rtp.restarts), COUNT(RTSP, "marker_faults", rtp.marker_faults),
    COUNT(RTSP, "time_faults", rtp.time_faults), COUNT(RTSP, "info_faults", rtp.info_faults),
    COUNT(RTSP, "odd", rtp.odd), COUNT(RTSP, "overflow", rtp.overflow),
    COUNT(LOAD_SRT, "packets", srt.packets), COUNT(LOAD_SRT, "lost", srt.lost),
    COUNT(LOAD_SRT, "repeated", srt.repeated), COUNT(LOAD_SRT, "too_late", srt.too_late),
    COUNT(LOAD_SRT, "belated", srt.belated), COUNT(LOAD_SRT, "doubled", srt.doubled),
    COUNT(LOAD_SRT, "undecrypted", srt.undecrypted), COUNT(LOAD_SRT, "holes", srt.holes),
    COUNT(LOAD_SRT, "ts_faults", srt.ts_faults), COUNT(LOAD_SRT, "skips", srt.skips),
    COUNT(LOAD_SRT, "overflow", srt.overflow), TIME(LOAD_SRT, "rtt_ms", srt.rtt),
    TIME(LOAD_SRT, "agreed_ms", srt.latency), TIME(LOAD_RTC, "answer_ms", rtc.answer),
    COUNT(LOAD_RTC, "packets", rtc.packets), COUNT(LOAD_RTC, "lost", rtc.lost),
    COUNT(LOAD_RTC, "nacks", rtc.nacks), COUNT(LOAD_RTC, "repaired", rtc.repaired),
    COUNT(LOAD_RTC, "plis", rtc.plis), COUNT(LOAD_RTC, "reports", rtc.reports),
    COUNT(LOAD_RTC, "forged", rtc.forged), COUNT(LOAD_RTC, "odd", rtc.odd),
    COUNT(LOAD_RTC, "restarts", rtc.restarts), COUNT(RTMFP, "opened", rtmfp.opened),
    REAL(RTMFP, "opens_per_second", 1, now.opens), REAL(RTMFP, "startup_packets", 3, now.startup),
    TIME(RTMFP, "open_ms", rtmfp.open), COUNT(RTMFP, "pings", rtmfp.pings),
    COUNT(RTMFP, "replies", rtmfp.replies), COUNT(RTMFP, "lost", rtmfp.lost),
    REAL(RTMFP, "loss_percent", 4, now.loss), TIME(RTMFP, "rtt_ms", rtmfp.rtt),
    REAL(RTMFP, "disconnected_percent", 4, now.disconnected),
    COUNT(RTMFP, "timeouts", rtmfp.timeouts), COUNT(RTMFP, "silent", rtmfp.silent),
    COUNT(RTMFP, "moves", rtmfp.moves), COUNT(RTMFP, "forged", rtmfp.forged),
    COUNT(RTMFP, "overflow", rtmfp.overflow), COUNT(RTMFP, "unsent", rtmfp.unsent),
    COUNT(RTMFP, "pairs", rtmfp.pairs), COUNT(RTMFP, "met", rtmfp.met),
    COUNT(RTMFP, "forwarded", rtmfp.forwarded), TIME(RTMFP, "meet_ms", rtmfp.meet),
    REAL(RTMFP, "in_kbps", 1, now.in_kbps), REAL(RTMFP, "out_kbps", 1, now.out_kbps),
    REAL(SERVER, "server_cpu_us_per_open", 1, rtmfp.cpu_open),
    REAL(SERVER, "server_cpu_percent", 3, rtmfp.cpu_steady),
    REAL(SERVER, "server_kb_per_session", 3, rtmfp.kb_session),
    REAL(ALL, "cpu_percent", 2, now.cpu), COUNT(ALL, "rss_kb", now.rss_kb),
};

static int rows_of(const struct load_stat *s)
{
    int rows = s->now.kind | (s->now.gaps ? GAPS : 0) | (s->rtmfp.server ? SERVER : 0);

    if (s->now.kind == LOAD_RTMFP)
        rows |= (s->rtmfp.pairs > 0 ? PAIRS : 0) | (s->lag.count > 0 ? PUBLISHED : 0);
    return rows;
}

static const void *at(const struct load_stat *s, size_t offset)
{
    return (const char *)s + offset;
}

static double part(uint64_t of, uint64_t all, double unit)
{
    return all > 0 ? (double)of * unit / (double)all : 0;
}

void load_stat_sum(struct load_stat *s)
{
    const struct load_rtmfp_stat *r = &s->rtmfp;
    struct load_now *n = &s->now;
    double bits = n->seconds > 0 ? 8 / n->seconds : 0;
    int64_t took = r->last_open - r->first_open;

    n->in_kbps = (double)s->bytes_in * bits / 1e3;
    n->out_kbps = (double)s->bytes_out * bits / 1e3;
    n->read_mbps = n->in_kbps / 1e3;
    n->write_mbps = n->out_kbps / 1e3;
    /* of pictures with a clock in them, those that were lost included */
    n->in_time = part(s->in_time, s->latency.count + s->drops, 100);
    n->startup = part(r->startup_sent, r->startup, 1);
    n->loss = part(r->lost, r->lost + r->replies, 100);
    n->disconnected = part(r->disconnects + r->timeouts, r->opened, 100);
    /* from the first session's keys to the last one's */
    n->opens = r->opened > 1 && took > 0 ? (double)(r->opened - 1) * 1e6 / (double)took : 0;
}

/* ------------------------------------------------------------ text */

void load_report_line(FILE *f, const struct load_stat *s)
{
    fprintf(f, "[report] [%d] threads:1 alive:%d duration:%.0f tduration:%.0f nread:%.2f "
               "nwrite:%.2f tasks:%" PRIu64 " etasks:%" PRIu64 " stasks:0 estasks:0\n",
            (int)getpid(), s->now.alive, s->now.seconds, s->now.total_seconds, s->now.read_mbps,
            s->now.write_mbps, s->sessions, s->failed);
    fflush(f);
}

static void text_hist(FILE *f, const char *name, const struct load_hist *h)
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
        else if (*p == '~')
            fprintf(f, "%.*f", *++p - '0', *(const double *)at(s, row->at[n++]));
        else
            fputc(*p, f);
    }
    fputc('\n', f);
}

static void text_counts(FILE *f, const struct load_stat *s)
{
    const struct load_now *n = &s->now;
    const struct load_refused *r = s->rtp.refused;

    fprintf(f, "  clients      %d, alive %d, connected %" PRIu64 ", failed %" PRIu64
               ", ended %" PRIu64 ", reconnected %" PRIu64 "\n",
            n->clients, n->alive, s->connected, s->failed, s->ended, s->churned);
    for (int i = 0; i < LOAD_REASONS && s->reasons[i].count > 0; i++)
        fprintf(f, "  failed       %" PRIu64 ": %s\n", s->reasons[i].count, s->reasons[i].text);
    for (int i = 0; i < LOAD_REFUSALS && r[i].count > 0; i++)
        fprintf(f, "  refused      %" PRIu64 " with %d\n", r[i].count, r[i].status);
    fprintf(f, "  traffic      read %.2f Mbit/s, written %.2f Mbit/s, %" PRIu64
               " messages in %.1f s\n",
            n->read_mbps, n->write_mbps, s->messages, n->seconds);
    if (n->rate.count > 0)
        fprintf(f, "  rate         min %" PRIu64 "  p50 %" PRIu64 "  max %" PRIu64
                   " kbit/s a client\n",
                load_hist_at(&n->rate, 0), load_hist_at(&n->rate, 0.5), n->rate.max);
    if (n->media_kbps > 0)
        fprintf(f, "  file         %.0f kbit/s\n", n->media_kbps);
}

void load_report_text(FILE *f, const struct load_stat *s)
{
    const struct load_now *n = &s->now;

    fprintf(f, "%s %s, %.1f s\n", n->tool, n->url, n->total_seconds);
    text_counts(f, s);
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        if (!(text[i].tools & rows_of(s)))
            continue;
        if (text[i].unit > 0)
            text_hist(f, text[i].text, at(s, text[i].at[0]));
        else
            text_line(f, s, &text[i]);
    }
    fprintf(f, "  this tool    %.1f %% of a core, %.1f MB\n", n->cpu, (double)n->rss_kb / 1024);
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

static void json_row(FILE *f, const struct load_stat *s, const struct row *row)
{
    const void *v = at(s, row->at[0]);
    const struct load_hist *h = v;
    double unit = row->unit;

    fprintf(f, ",\n  \"%s\": ", row->text);
    if (row->unit == 0)
        fprintf(f, "%" PRIu64, *(const uint64_t *)v);
    else if (row->unit < 0)
        fprintf(f, "%.*f", -row->unit, *(const double *)v);
    else
        fprintf(f, "{\"count\": %" PRIu64 ", \"min\": %.3f, \"mean\": %.3f, \"p50\": %.3f, "
                   "\"p90\": %.3f, \"p99\": %.3f, \"max\": %.3f}",
                h->count, (double)load_hist_at(h, 0) / unit, load_hist_mean(h) / unit,
                (double)load_hist_at(h, 0.5) / unit, (double)load_hist_at(h, 0.9) / unit,
                (double)load_hist_at(h, 0.99) / unit, (double)h->max / unit);
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

static void json_refused(FILE *f, const struct load_refused *r)
{
    fputs(",\n  \"refused\": {", f);
    for (int i = 0; i < LOAD_REFUSALS && r[i].count > 0; i++)
        fprintf(f, "%s\"%d\": %" PRIu64, i ? ", " : "", r[i].status, r[i].count);
    fputc('}', f);
}

void load_report_json(FILE *f, const struct load_stat *s)
{
    const struct load_now *n = &s->now;

    fputs("{\n  \"tool\": ", f);
    json_string(f, n->tool);
    fputs(",\n  \"url\": ", f);
    json_string(f, n->url);
    fprintf(f, ",\n  \"pid\": %d,\n  \"clients\": %d,\n  \"alive\": %d", (int)getpid(), n->clients,
            n->alive);
    fprintf(f, ",\n  \"seconds\": %.3f,\n  \"total_seconds\": %.3f", n->seconds, n->total_seconds);
    json_reasons(f, s);
    if (n->kind & (LOAD_RTSP_BOTH | LOAD_SRT | LOAD_RTC))
        json_refused(f, s->rtp.refused);
    for (size_t i = 0; i < sizeof(json) / sizeof(json[0]); i++)
        if (json[i].tools & rows_of(s))
            json_row(f, s, &json[i]);
    fputs("\n}\n", f);
    fflush(f);
}
