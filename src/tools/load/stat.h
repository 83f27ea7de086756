/* SPDX-License-Identifier: MIT */
/* stat.h - what all clients of a load tool measured, and the report of it. */
#ifndef TOOLS_LOAD_STAT_H
#define TOOLS_LOAD_STAT_H

#include "base/err.h"
#include "co/co.h"
#include "tools/load/opts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ------------------------------------------------------------ histograms: hist.c */

/* Of times: 32 steps in each power of two, so a percentile is right within 3 %, from 1 µs to 25
 * days, in 5 KB whatever is counted. Least and most are exact. */
enum { LOAD_HIST_STEPS = 32, LOAD_HIST_OCTAVES = 37 };

struct load_hist {
    uint64_t count, min, max;
    double sum;
    uint32_t n[LOAD_HIST_OCTAVES * LOAD_HIST_STEPS];
};

void load_hist_add(struct load_hist *h, int64_t value); /* below 0 counts as 0 */
/* The value that `part` (0 to 1) of all are at or below; 0 when nothing was counted. */
uint64_t load_hist_at(const struct load_hist *h, double part);
double load_hist_mean(const struct load_hist *h);

/* ------------------------------------------------------------ what is counted */

enum { LOAD_REASONS = 16, LOAD_REFUSALS = 16 };

struct load_reason { /* why sessions failed, by the code of their error */
    enum err_code code;
    uint64_t count;
    char text[160]; /* of the first */
};

struct load_hls_stat { /* of HLS players */
    struct load_hist first_list, first_segment; /* µs from the begin of a session */
    /* from the mark */
    uint64_t lists, segments, parts, hints; /* fetched; parts that a hint named */
    uint64_t skipped, jumps; /* units not got; moves back to the edge */
    struct load_hist fetch; /* µs that a segment took */
    struct load_hist edge;  /* µs that the picture is behind the end of the list */
    struct load_hist stall; /* µs that a picture stood still */
};

struct load_refused { /* by the status of the answer */
    int status;
    uint64_t count;
};

struct load_rtp_stat { /* of RTSP, from the mark but for `refused` */
    struct load_refused refused[LOAD_REFUSALS]; /* status 0: there are no more */
    uint64_t packets, reports; /* of RTP; sender reports */
    uint64_t lost, reordered;  /* numbers that did not come; packets that came late */
    uint64_t restarts;         /* another numbering, or another sender */
    uint64_t marker_faults;    /* no marker at the end of a frame, or one before it */
    uint64_t time_faults;      /* timestamps that fell, or ran ahead of the clock */
    uint64_t info_faults;      /* tracks that did not begin at the number in RTP-Info */
    uint64_t odd;              /* what came and is no packet of a track */
    uint64_t overflow;         /* datagrams that this tool was too slow for */
};

struct load_srt_stat { /* of SRT */
    uint64_t overflow;     /* datagrams that this tool was too slow for */
    struct load_hist latency; /* µs that each session agreed on */
    /* from the mark */
    uint64_t packets;      /* of data, sent first or received */
    uint64_t lost;         /* that a gap or a list of the receiver told of */
    uint64_t repeated;     /* that came, or went, again because of that */
    uint64_t too_late;     /* that were given up */
    uint64_t belated, doubled, undecrypted;
    uint64_t skips;        /* of senders: to a key frame, as nothing was acknowledged */
    uint64_t holes;        /* messages behind packets that were given up */
    uint64_t ts_faults;    /* packets of TS that are missing though nothing is, or are none */
    struct load_hist rtt;  /* µs */
};

struct load_rtc_stat { /* of WebRTC, from the mark but for `answer` */
    struct load_hist answer; /* µs from the begin of a session */
    uint64_t packets;      /* of RTP */
    uint64_t lost;         /* after all that was asked for */
    uint64_t nacks, repaired, plis; /* asked for, each time; that came, or went, again */
    uint64_t reports;      /* of the other side */
    uint64_t forged, odd, restarts; /* not authenticated; of no track; another source */
};

struct load_rtmfp_stat { /* of RTMFP */
    struct load_hist open; /* µs from the first hello to keys */
    int64_t first_open, last_open; /* µs, when */
    uint64_t startup, startup_sent; /* sessions that got keys, and packets that they needed */
    uint64_t opened, timeouts, disconnects, silent; /* keys; ended by silence, in another way */
    uint64_t forged, overflow; /* not of our keys, or repeated; this tool was too slow for */
    double cpu_open, cpu_steady; /* of the server: µs an open; % of a core since the mark */
    double kb_session;     /* of the server: resident memory, kB a session */
    bool server;           /* the above were looked at */
    struct load_hist meet; /* µs from a hello to a peer's id to keys with that peer */
    uint64_t pairs, met, forwarded; /* requested; keys; reported to the other side */
    /* from the mark */
    uint64_t pings, replies, lost, moves; /* lost: no reply until the next ping */
    uint64_t unsent;       /* messages of publishers that waited for too long */
    struct load_hist rtt;  /* µs of pings */
};

/* Numbers of the moment of the report. */
struct load_now {
    const char *tool, *url;
    enum load_tools kind;
    int clients, alive;
    double seconds, total_seconds; /* since the mark; since the begin */
    double cpu;                    /* of this process, % of a core, since the mark */
    uint64_t rss_kb;
    double media_kbps;             /* of the file that is published; 0: none is */
    bool gaps;                     /* `gap` was measured */
    struct load_hist rate; /* kbit/s of each client that is alive */
    struct load_hist gap;  /* µs, the longest of each client */
    /* load_stat_sum() */
    double in_kbps, out_kbps, read_mbps, write_mbps;
    double in_time, startup, loss, disconnected, opens; /* %; a session; %; %; a second */
};

struct load_stat {
    /* from the begin */
    uint64_t sessions, connected, ended, churned, failed;
    struct load_reason reasons[LOAD_REASONS];
    struct load_hist connect, first_byte, first_key; /* µs from the begin of a session */
    struct load_hist first_packet; /* µs from the request for media to the first of it */
    /* from the mark (--warmup), or the begin */
    uint64_t bytes_in, bytes_out, messages;
    uint64_t stalls, late, drops, backwards;
    uint64_t in_time;         /* pictures with a clock in them that are not older than `late` */
    uint64_t audio, audio_missing; /* messages; how many more their times have room for */
    struct load_hist latency; /* µs from a publisher of ours to here */
    struct load_hist lag;     /* µs that a publisher sent a message after it was due */
    struct load_hls_stat hls;
    struct load_rtp_stat rtp;
    struct load_srt_stat srt;
    struct load_rtc_stat rtc;
    struct load_rtmfp_stat rtmfp;
    struct load_now now;
};

void load_stat_fail(struct load_stat *s, err_t err); /* err stays the caller's */
/* A request was answered by that status. */
void load_stat_refused(struct load_stat *s, int status);
/* Forget what is counted from the mark on. */
void load_stat_mark(struct load_stat *s);

/* The sums of `now`, once the rest of it is set. */
void load_stat_sum(struct load_stat *s);

/* "[report] ..." in the shape that users of such tools know. */
void load_report_line(FILE *f, const struct load_stat *s);
void load_report_text(FILE *f, const struct load_stat *s);
void load_report_json(FILE *f, const struct load_stat *s);

#endif
