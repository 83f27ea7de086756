/* SPDX-License-Identifier: MIT */
/* stat.c - what all clients of a load tool measured, and the report of it. */
#include "tools/load/stat.h"

#include "tools/load/rtmfp_report.h"

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

static void mark_hls(struct load_hls_stat *h)
{
    h->lists = h->segments = h->parts = h->hints = h->skipped = h->jumps = 0;
    h->fetch = h->edge = h->stall = (struct load_hist){ 0 };
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

static void mark_rtp(struct load_rtp_stat *r)
{
    struct load_rtp_stat fresh = { .packets = 0 };

    memcpy(fresh.refused, r->refused, sizeof(fresh.refused));
    *r = fresh;
}

static void mark_srt(struct load_srt_stat *s)
{
    s->packets = s->lost = s->repeated = s->too_late = s->belated = s->doubled = 0;
    s->undecrypted = s->skips = s->holes = s->ts_faults = 0;
    memset(&s->rtt, 0, sizeof(s->rtt));
}

static void mark_rtc(struct load_rtc_stat *s)
{
    s->packets = s->lost = s->nacks = s->repaired = s->plis = s->reports = 0;
    s->forged = s->odd = s->restarts = 0;
}

void load_stat_mark(struct load_stat *s)
{
    load_rtmfp_mark(&s->rtmfp);
    mark_rtc(&s->rtc);
    mark_hls(&s->hls);
    mark_rtp(&s->rtp);
    mark_srt(&s->srt);
    s->bytes_in = s->bytes_out = s->messages = 0;
    s->stalls = s->late = s->drops = s->backwards = 0;
    s->in_time = s->audio = s->audio_missing = 0;
    s->latency = (struct load_hist){ 0 };
    s->lag = (struct load_hist){ 0 };
}

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
               "nwrite:%.2f tasks:%llu etasks:%llu stasks:0 estasks:0\n",
            (int)getpid(), r->alive, r->seconds, r->total_seconds, mbps(s->bytes_in, r->seconds),
            mbps(s->bytes_out, r->seconds), (unsigned long long)s->sessions,
            (unsigned long long)s->failed);
    fflush(f);
}

static void text_hist(FILE *f, const char *name, const struct load_hist *h, double unit,
                      const char *suffix)
{
    if (h->count == 0)
        return;
    fprintf(f, "  %-12s p50 %.1f  p99 %.1f  max %.1f %s  (of %llu)\n", name,
            (double)load_hist_at(h, 0.5) / unit, (double)load_hist_at(h, 0.99) / unit,
            (double)h->max / unit, suffix, (unsigned long long)h->count);
}

static void text_counts(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    fprintf(f, "  clients      %d, alive %d, connected %llu, failed %llu, ended %llu, "
               "reconnected %llu\n",
            r->clients, r->alive, (unsigned long long)s->connected, (unsigned long long)s->failed,
            (unsigned long long)s->ended, (unsigned long long)s->churned);
    for (int i = 0; i < LOAD_REASONS && s->reasons[i].count > 0; i++)
        fprintf(f, "  failed       %llu: %s\n", (unsigned long long)s->reasons[i].count,
                s->reasons[i].text);
    fprintf(f, "  traffic      read %.2f Mbit/s, written %.2f Mbit/s, %llu messages in %.1f s\n",
            mbps(s->bytes_in, r->seconds), mbps(s->bytes_out, r->seconds),
            (unsigned long long)s->messages, r->seconds);
}

static void text_hls(FILE *f, const struct load_stat *s)
{
    const struct load_hls_stat *h = &s->hls;

    text_hist(f, "first list", &h->first_list, 1000, "ms");
    text_hist(f, "first media", &h->first_segment, 1000, "ms");
    fprintf(f, "  fetched      lists %llu, segments %llu, parts %llu (hinted %llu); "
               "skipped %llu, jumps %llu\n",
            (unsigned long long)h->lists, (unsigned long long)h->segments,
            (unsigned long long)h->parts, (unsigned long long)h->hints,
            (unsigned long long)h->skipped, (unsigned long long)h->jumps);
    fprintf(f, "  stalls       %llu\n", (unsigned long long)s->stalls);
    text_hist(f, "stalled", &h->stall, 1000, "ms");
    text_hist(f, "fetch", &h->fetch, 1000, "ms");
    text_hist(f, "behind edge", &h->edge, 1000, "ms");
}

static void text_refused(FILE *f, const struct load_rtp_stat *r)
{
    for (int i = 0; i < LOAD_REFUSALS && r->refused[i].count > 0; i++)
        fprintf(f, "  refused      %llu with %d\n", (unsigned long long)r->refused[i].count,
                r->refused[i].status);
}

static void text_rtsp(FILE *f, const struct load_rtp_stat *r, bool in)
{
    text_refused(f, r);
    if (!in) {
        fprintf(f, "  packets      %llu\n", (unsigned long long)r->packets);
        return;
    }
    fprintf(f, "  packets      %llu, lost %llu, reordered %llu, restarts %llu, odd %llu, "
               "overflow %llu; sender reports %llu\n",
            (unsigned long long)r->packets, (unsigned long long)r->lost,
            (unsigned long long)r->reordered, (unsigned long long)r->restarts,
            (unsigned long long)r->odd, (unsigned long long)r->overflow,
            (unsigned long long)r->reports);
    fprintf(f, "  RTP faults   marker %llu, time %llu, RTP-Info %llu\n",
            (unsigned long long)r->marker_faults, (unsigned long long)r->time_faults,
            (unsigned long long)r->info_faults);
}

static void text_srt(FILE *f, const struct load_srt_stat *s)
{
    fprintf(f, "  packets      %llu, lost %llu, repeated %llu, too late %llu, belated %llu, "
               "doubled %llu\n",
            (unsigned long long)s->packets, (unsigned long long)s->lost,
            (unsigned long long)s->repeated, (unsigned long long)s->too_late,
            (unsigned long long)s->belated, (unsigned long long)s->doubled);
    fprintf(f, "  faults       not decrypted %llu, holes %llu, TS %llu, skips %llu, "
               "overflow %llu\n",
            (unsigned long long)s->undecrypted, (unsigned long long)s->holes,
            (unsigned long long)s->ts_faults, (unsigned long long)s->skips,
            (unsigned long long)s->overflow);
    text_hist(f, "round trip", &s->rtt, 1000, "ms");
    text_hist(f, "agreed", &s->latency, 1000, "ms");
}

static void text_rtc(FILE *f, const struct load_rtc_stat *s)
{
    text_hist(f, "answer", &s->answer, 1000, "ms");
    fprintf(f, "  packets      %llu, lost %llu, asked for %llu, repaired %llu, PLI %llu, "
               "reports %llu\n",
            (unsigned long long)s->packets, (unsigned long long)s->lost,
            (unsigned long long)s->nacks, (unsigned long long)s->repaired,
            (unsigned long long)s->plis, (unsigned long long)s->reports);
    fprintf(f, "  faults       not authenticated %llu, odd %llu, restarts %llu\n",
            (unsigned long long)s->forged, (unsigned long long)s->odd,
            (unsigned long long)s->restarts);
}

void load_report_text(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    fprintf(f, "%s %s, %.1f s\n", r->tool, r->url, r->total_seconds);
    text_counts(f, s, r);
    if (r->rate.count > 0)
        fprintf(f, "  rate         min %llu  p50 %llu  max %llu kbit/s a client\n",
                (unsigned long long)load_hist_at(&r->rate, 0),
                (unsigned long long)load_hist_at(&r->rate, 0.5), (unsigned long long)r->rate.max);
    if (r->media_kbps > 0)
        fprintf(f, "  file         %.0f kbit/s\n", r->media_kbps);
    text_hist(f, "connect", &s->connect, 1000, "ms");
    text_hist(f, "first byte", &s->first_byte, 1000, "ms");
    text_hist(f, "first packet", &s->first_packet, 1000, "ms");
    text_hist(f, "first key", &s->first_key, 1000, "ms");
    if (r->gaps) {
        text_hist(f, "longest gap", &r->gap, 1000, "ms");
        fprintf(f, "  faults       stalls %llu, late frames %llu, dropped %llu, backwards %llu\n",
                (unsigned long long)s->stalls, (unsigned long long)s->late,
                (unsigned long long)s->drops, (unsigned long long)s->backwards);
        fprintf(f, "  complete     pictures in time %.2f %%, audio %llu, missing %llu\n",
                in_time(s), (unsigned long long)s->audio, (unsigned long long)s->audio_missing);
    }
    if (r->hls)
        text_hls(f, s);
    if (r->rtsp_in || r->rtsp_out)
        text_rtsp(f, &s->rtp, r->rtsp_in);
    if (r->srt) {
        text_refused(f, &s->rtp);
        text_srt(f, &s->srt);
    }
    if (r->rtc) {
        text_refused(f, &s->rtp);
        text_rtc(f, &s->rtc);
    }
    if (r->rtmfp)
        load_rtmfp_text(f, s, r);
    text_hist(f, "latency", &s->latency, 1000, "ms");
    text_hist(f, "sent after", &s->lag, 1000, "ms");
    fprintf(f, "  this tool    %.1f %% of a core, %.1f MB\n", r->cpu, (double)r->rss_kb / 1024);
    fflush(f);
}

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
    fprintf(f, ",\n  \"%s\": {\"count\": %llu, \"min\": %.3f, \"mean\": %.3f, \"p50\": %.3f, "
               "\"p90\": %.3f, \"p99\": %.3f, \"max\": %.3f}",
            name, (unsigned long long)h->count, (double)load_hist_at(h, 0) / unit,
            load_hist_mean(h) / unit, (double)load_hist_at(h, 0.5) / unit,
            (double)load_hist_at(h, 0.9) / unit, (double)load_hist_at(h, 0.99) / unit,
            (double)h->max / unit);
}

static void json_count(FILE *f, const char *name, uint64_t v)
{
    fprintf(f, ",\n  \"%s\": %llu", name, (unsigned long long)v);
}

static void json_reasons(FILE *f, const struct load_stat *s)
{
    fputs(",\n  \"reasons\": [", f);
    for (int i = 0; i < LOAD_REASONS && s->reasons[i].count > 0; i++) {
        fprintf(f, "%s{\"code\": %d, \"count\": %llu, \"text\": ", i ? ", " : "",
                s->reasons[i].code, (unsigned long long)s->reasons[i].count);
        json_string(f, s->reasons[i].text);
        fputc('}', f);
    }
    fputc(']', f);
}

static void json_hls(FILE *f, const struct load_hls_stat *h)
{
    json_hist(f, "first_list_ms", &h->first_list, 1000);
    json_hist(f, "first_segment_ms", &h->first_segment, 1000);
    json_count(f, "lists", h->lists);
    json_count(f, "segments", h->segments);
    json_count(f, "parts", h->parts);
    json_count(f, "hints", h->hints);
    json_count(f, "skipped", h->skipped);
    json_count(f, "jumps", h->jumps);
    json_hist(f, "fetch_ms", &h->fetch, 1000);
    json_hist(f, "edge_ms", &h->edge, 1000);
    json_hist(f, "stall_ms", &h->stall, 1000);
}

static void json_refused(FILE *f, const struct load_rtp_stat *r)
{
    fputs(",\n  \"refused\": {", f);
    for (int i = 0; i < LOAD_REFUSALS && r->refused[i].count > 0; i++)
        fprintf(f, "%s\"%d\": %llu", i ? ", " : "", r->refused[i].status,
                (unsigned long long)r->refused[i].count);
    fputc('}', f);
}

static void json_rtsp(FILE *f, const struct load_rtp_stat *r)
{
    json_refused(f, r);
    json_count(f, "packets", r->packets);
    json_count(f, "sender_reports", r->reports);
    json_count(f, "lost", r->lost);
    json_count(f, "reordered", r->reordered);
    json_count(f, "restarts", r->restarts);
    json_count(f, "marker_faults", r->marker_faults);
    json_count(f, "time_faults", r->time_faults);
    json_count(f, "info_faults", r->info_faults);
    json_count(f, "odd", r->odd);
    json_count(f, "overflow", r->overflow);
}

static void json_srt(FILE *f, const struct load_srt_stat *s)
{
    json_count(f, "packets", s->packets);
    json_count(f, "lost", s->lost);
    json_count(f, "repeated", s->repeated);
    json_count(f, "too_late", s->too_late);
    json_count(f, "belated", s->belated);
    json_count(f, "doubled", s->doubled);
    json_count(f, "undecrypted", s->undecrypted);
    json_count(f, "holes", s->holes);
    json_count(f, "ts_faults", s->ts_faults);
    json_count(f, "skips", s->skips);
    json_count(f, "overflow", s->overflow);
    json_hist(f, "rtt_ms", &s->rtt, 1000);
    json_hist(f, "agreed_ms", &s->latency, 1000);
}

static void json_rtc(FILE *f, const struct load_rtc_stat *s)
{
    json_hist(f, "answer_ms", &s->answer, 1000);
    json_count(f, "packets", s->packets);
    json_count(f, "lost", s->lost);
    json_count(f, "nacks", s->nacks);
    json_count(f, "repaired", s->repaired);
    json_count(f, "plis", s->plis);
    json_count(f, "reports", s->reports);
    json_count(f, "forged", s->forged);
    json_count(f, "odd", s->odd);
    json_count(f, "restarts", s->restarts);
}

void load_report_json(FILE *f, const struct load_stat *s, const struct load_report *r)
{
    fputs("{\n  \"tool\": ", f);
    json_string(f, r->tool);
    fputs(",\n  \"url\": ", f);
    json_string(f, r->url);
    fprintf(f, ",\n  \"pid\": %d,\n  \"clients\": %d,\n  \"alive\": %d", (int)getpid(), r->clients,
            r->alive);
    fprintf(f, ",\n  \"seconds\": %.3f,\n  \"total_seconds\": %.3f", r->seconds, r->total_seconds);
    json_count(f, "sessions", s->sessions);
    json_count(f, "connected", s->connected);
    json_count(f, "ended", s->ended);
    json_count(f, "reconnected", s->churned);
    json_count(f, "failed", s->failed);
    json_reasons(f, s);
    json_count(f, "bytes_in", s->bytes_in);
    json_count(f, "bytes_out", s->bytes_out);
    json_count(f, "messages", s->messages);
    fprintf(f, ",\n  \"read_mbps\": %.3f,\n  \"write_mbps\": %.3f", mbps(s->bytes_in, r->seconds),
            mbps(s->bytes_out, r->seconds));
    json_hist(f, "rate_kbps", &r->rate, 1);
    fprintf(f, ",\n  \"media_kbps\": %.3f", r->media_kbps);
    json_hist(f, "connect_ms", &s->connect, 1000);
    json_hist(f, "first_byte_ms", &s->first_byte, 1000);
    json_hist(f, "first_packet_ms", &s->first_packet, 1000);
    json_hist(f, "first_key_ms", &s->first_key, 1000);
    json_hist(f, "gap_ms", &r->gap, 1000);
    json_count(f, "stalls", s->stalls);
    json_count(f, "late", s->late);
    json_count(f, "drops", s->drops);
    json_count(f, "backwards", s->backwards);
    json_count(f, "audio", s->audio);
    json_count(f, "audio_missing", s->audio_missing);
    fprintf(f, ",\n  \"in_time_percent\": %.3f", in_time(s));
    json_hist(f, "latency_ms", &s->latency, 1000);
    json_hist(f, "lag_ms", &s->lag, 1000);
    if (r->hls)
        json_hls(f, &s->hls);
    if (r->rtsp_in || r->rtsp_out)
        json_rtsp(f, &s->rtp);
    if (r->srt) {
        json_refused(f, &s->rtp);
        json_srt(f, &s->srt);
    }
    if (r->rtc) {
        json_refused(f, &s->rtp);
        json_rtc(f, &s->rtc);
    }
    if (r->rtmfp)
        load_rtmfp_json(f, s, r);
    fprintf(f, ",\n  \"cpu_percent\": %.2f,\n  \"rss_kb\": %ld\n}\n", r->cpu, r->rss_kb);
    fflush(f);
}
