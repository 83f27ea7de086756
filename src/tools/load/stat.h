/* SPDX-License-Identifier: MIT */
/* stat.h - measurements of all clients of a load tool, and the reports made from them. */
#ifndef TOOLS_LOAD_STAT_H
#define TOOLS_LOAD_STAT_H

#include "base/err.h"
#include "co/co.h"
#include "tools/load/opts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ------------------------------------------------------------ histograms: hist.c */

/* Histogram of times with 32 steps in each power of two: percentiles are right within 3 % from 1 µs
 * to 25 days. The size is always 5 KB. Minimum and maximum are exact. */
enum { LOAD_HIST_STEPS = 32, LOAD_HIST_OCTAVES = 37 };

struct load_hist {
    uint64_t count, min, max;
    double sum;
    uint32_t n[LOAD_HIST_OCTAVES * LOAD_HIST_STEPS];
};

void load_hist_add(struct load_hist *h, int64_t value); /* negative values count as 0 */
/* Returns the percentile `part` (0 to 1) of all values; 0 if the histogram is empty. */
uint64_t load_hist_at(const struct load_hist *h, double part);
double load_hist_mean(const struct load_hist *h);

/* ------------------------------------------------------------ counters */

enum { LOAD_REASONS = 16, LOAD_REFUSALS = 16 };

struct load_reason { /* failed sessions with one error code */
    enum err_code code;
    uint64_t count;
    char text[160]; /* error text of the first one */
};

struct load_hls_stat { /* HLS players */
    struct load_hist first_list, first_segment; /* µs since the session began */
    /* counted since the mark */
    uint64_t lists, segments, parts, hints; /* fetched; hints: parts that a preload hint named */
    uint64_t skipped, jumps; /* units not received; jumps back to the live edge */
    struct load_hist fetch; /* µs to fetch a segment */
    struct load_hist edge;  /* µs between the displayed video and the end of the playlist */
    struct load_hist stall; /* µs for which the video stood still */
};

struct load_refused { /* rejected requests with one response status */
    int status;
    uint64_t count;
};

struct load_rtp_stat { /* RTSP; all but `refused` are counted since the mark */
    struct load_refused refused[LOAD_REFUSALS]; /* ends at status 0 */
    uint64_t packets, reports; /* RTP packets; sender reports */
    uint64_t lost, reordered;  /* missing sequence numbers; packets out of order */
    uint64_t restarts;         /* changes of the sequence numbering or of the SSRC */
    uint64_t marker_faults;    /* marker missing at the end of a frame, or set before it */
    uint64_t time_faults;      /* timestamps that went back or ran ahead of the clock */
    uint64_t info_faults;      /* tracks that did not begin at the number in RTP-Info */
    uint64_t odd;              /* packets that belong to no track */
    uint64_t overflow;         /* datagrams dropped because this tool was too slow */
};

struct load_srt_stat { /* SRT */
    uint64_t overflow;     /* datagrams dropped because this tool was too slow */
    struct load_hist latency; /* µs, negotiated by each session */
    /* counted since the mark */
    uint64_t packets;      /* data packets received, or sent for the first time */
    uint64_t lost;         /* packets missing in a gap, or listed in a loss report */
    uint64_t repeated;     /* retransmissions received or sent */
    uint64_t too_late;     /* packets dropped because they were too late */
    uint64_t belated, doubled, undecrypted;
    uint64_t skips;        /* times a sender skipped to a key frame because no ACK came */
    uint64_t holes;        /* messages that follow dropped packets */
    uint64_t ts_faults;    /* TS packets that are malformed, or missing without a loss in SRT */
    struct load_hist rtt;  /* µs */
};

struct load_rtc_stat { /* WebRTC; all but `answer` are counted since the mark */
    struct load_hist answer; /* µs from the start of a session to the SDP answer */
    uint64_t packets;      /* RTP packets */
    uint64_t lost;         /* packets still missing after all retransmissions */
    uint64_t nacks, repaired, plis; /* packets requested; packets retransmitted; PLIs */
    uint64_t reports;      /* reports of the peer */
    uint64_t forged, odd, restarts; /* authentication failed; no such track; SSRC changed */
};

struct load_rtmfp_stat { /* RTMFP */
    struct load_hist open; /* µs from the first hello to the session's keys */
    int64_t first_open, last_open; /* µs, time of the first and the last key exchange */
    uint64_t startup, startup_sent; /* sessions that got keys; packets they sent for that */
    uint64_t opened, timeouts, disconnects, silent; /* key exchanges; ends by timeout, by others */
    uint64_t forged, overflow; /* wrong key or replayed; dropped as this tool was too slow */
    double cpu_open, cpu_steady; /* server: µs per open; % of a core since the mark */
    double kb_session;     /* server: resident memory per session, kB */
    bool server;           /* the three numbers above were measured */
    struct load_hist meet; /* µs from a hello with a peer's id to the keys with that peer */
    uint64_t pairs, met, forwarded; /* introductions requested; with keys; seen by the peer */
    /* counted since the mark */
    uint64_t pings, replies, lost, moves; /* lost: no reply until the next ping */
    uint64_t unsent;       /* publishers' messages dropped because they waited too long */
    struct load_hist rtt;  /* µs, of pings */
};

/* Values at the time of the report. */
struct load_now {
    const char *tool, *url;
    enum load_tools kind;
    int clients, alive;
    double seconds, total_seconds; /* since the mark; since the start */
    double cpu;                    /* of this process, % of a core, since the mark */
    uint64_t rss_kb;
    double media_kbps;             /* bit rate of the published file; 0: no file */
    bool gaps;                     /* `gap` was measured */
    struct load_hist rate; /* kbit/s of each connected client */
    struct load_hist gap;  /* µs, longest gap of each client */
    /* set by load_stat_sum() */
    double in_kbps, out_kbps, read_mbps, write_mbps;
    double in_time, startup, loss, disconnected, opens; /* %; a session; %; %; a second */
};

struct load_stat {
    /* counted since the start */
    uint64_t sessions, connected, ended, churned, failed;
    struct load_reason reasons[LOAD_REASONS];
    struct load_hist connect, first_byte, first_key; /* µs since the session began */
    struct load_hist first_packet; /* µs from the request to the first media */
    /* counted since the mark (--warmup), or since the start */
    uint64_t bytes_in, bytes_out, messages;
    uint64_t stalls, late, drops, backwards;
    uint64_t in_time;         /* video frames with a clock marker that are not older than `late` */
    uint64_t audio, audio_missing; /* messages received; messages missing by their timestamps */
    struct load_hist latency; /* µs from a publisher of these tools to this player */
    struct load_hist lag;     /* µs by which a publisher sent a message too late */
    struct load_hls_stat hls;
    struct load_rtp_stat rtp;
    struct load_srt_stat srt;
    struct load_rtc_stat rtc;
    struct load_rtmfp_stat rtmfp;
    struct load_now now;
};

/* Counts a failed session. The caller keeps err. */
void load_stat_fail(struct load_stat *s, err_t err);
/* Counts a request rejected with this status. */
void load_stat_refused(struct load_stat *s, int status);
/* Resets the counters that count since the mark. */
void load_stat_mark(struct load_stat *s);

/* Computes the sums in s->now from its other fields. */
void load_stat_sum(struct load_stat *s);

/* Writes a "[report] ..." line in the format of srs-bench. */
void load_report_line(FILE *f, const struct load_stat *s);
void load_report_text(FILE *f, const struct load_stat *s);
void load_report_json(FILE *f, const struct load_stat *s);

#endif
