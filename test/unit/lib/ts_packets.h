/* SPDX-License-Identifier: MIT */
/* ts_packets.h - a multiplexer that writes given packets, and the demuxed frames. */
#ifndef TS_PACKETS_H
#define TS_PACKETS_H

#include "base/wr.h"
#include "format/ts/demux.h"
#include "format/ts/mux.h"
#include "format/ts/pes.h"
#include "media_configs.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 24, FRAMES = 64, PMT = 0x100, VIDEO = 0x101, AUDIO = 0x102, STEP = 3600 };

#define AUD "\0\0\0\1\x09\xf0"
#define SPS "\0\0\0\1\x67\x64\x00\x0c\xac\xd9\x41\x41\x9f\x9f\x01\x6c\x80\x00\x00\x03\x00\x80" \
    "\x00\x00\x19\x07\x8a\x14\xcb"
#define PPS "\0\0\1\x68\xeb\xe3\xcb\x22\xc0"
#define IDR "\0\0\1\x65\x88\1\2\3"
#define P "\0\0\1\x41\x9a\1\2"
#define B(s) (const uint8_t *)(s), sizeof(s) - 1

/* ---- a multiplexer without rules */

extern struct wr ts_bytes;
extern uint8_t ts_counters[0x2000];

void put_packet(uint16_t pid, bool start, const uint8_t *data, size_t size, size_t stuffing);
void put_section(uint16_t pid, uint8_t table, uint16_t id, uint8_t version, const uint8_t *body,
                 size_t size);
void put_pat(void);
void put_pmt(uint8_t version, const char *streams, size_t size);

#define PMT_OF(version, s) put_pmt(version, s, sizeof(s) - 1)
#define H264_STREAM "\x1b\xe1\1\xf0\0"
#define AAC_STREAM "\x0f\xe1\2\xf0\0"

enum { NO_TIME = -1, LENGTH = 1 };

/* pts NO_TIME: none; dts NO_TIME: only pts. */
void put_pes(uint16_t pid, int64_t pts, int64_t dts, int how, const uint8_t *data, size_t size);
void put_video(int64_t pts, const char *data, size_t size);

#define VIDEO_PES(pts, s) put_video(pts, s, sizeof(s) - 1)

/* ---- demuxed frames */

struct got {
    bool config, key;
    enum av_codec codec;
    int64_t dts, pts;
    size_t size;
    uint8_t *data;
    uint64_t at;
};

extern struct ts_packets_state {
    struct ts_demux *d;
    struct got v[FRAMES];
    unsigned n, told;
    struct ts_told last[8];
    struct ts_demux_stat stat;
} demuxed;

void demux_take(void);
void demux_start_with(const struct ts_demux_opts *opts);
void demux_start(void);

/* Feeds what was written so far; returns the number of frames. */
unsigned demux_feed(void);
void demux_flush(void);
void demux_stop(void);
const struct ts_demux_stat *demux_stat(void);
void demux_expect(unsigned i, bool config, int64_t pts, const uint8_t *data, size_t size);
void demux_begin_h264(void);

/* ---- audio */

/* One frame of n bytes. */
void put_adts(struct wr *w, uint8_t n);

#endif
