/* SPDX-License-Identifier: MIT */
/* floor.h - measures the CPU cost of the kernel alone: one process sends, another one reads. */
#ifndef TOOLS_LOAD_FLOOR_H
#define TOOLS_LOAD_FLOOR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

_Noreturn void load_floor_die(const char *what);
/* Parses a number; prints an error and exits if it is not in the range. */
int load_floor_number(const char *text, int least, int most);
/* 0 in the other process, which is on that core (< 0: on any) and ends with this one. */
pid_t load_floor_fork(int cpu);

/* "PEERS PACKETS SIZE PERIOD_MS SECONDS OTHER_CPU [plain]": datagrams, of whatever is in them.
 * Gives the status of the process, with JSON on stdout. */
int load_udp_floor(int argc, char **argv);
/* "--floor -c N --duration S [-i FILE | --kbps K] [--cm] [--no-sound] [--no-gso] [--reader-cpu N]",
 * and "--cbc-every MS" for RTMFP: encrypted ones; also what a packet takes to encrypt. */
int load_rtc_floor(int argc, char **argv);
/* "--dh": µs of CPU that keys of RTMFP take, by our code and by OpenSSL as it is. */
int load_rtmfp_keys(void);

/* ------------------------------------------------------------ packets: rtc_cut.c */

/* Sizes and send times of the packets that a server would send for a file. */
struct load_cut {
    struct load_cut_frame {
        uint32_t ms;      /* from the begin */
        uint32_t first;   /* of its packets */
        uint32_t n;
    } *frames;
    size_t n_frames, n;
    uint16_t *sizes;      /* of payloads */
    uint32_t period;      /* ms, then it begins again */
};

/* Of an FLV file; what WebRTC does not carry is not there. */
err_t load_cut_file(struct load_cut *c, const char *path) __attribute__((warn_unused_result));
/* Of an FLV file for RTMFP: plain packets of AES-CBC, in turns that come each `every` ms. */
err_t load_cut_messages(struct load_cut *c, const char *path, unsigned every)
    __attribute__((warn_unused_result));
/* The same packets once in `period` ms. */
void load_cut_equal(struct load_cut *c, unsigned packets, unsigned size, unsigned period);
/* Makes 25 frames of equal packets a second, and 50 audio packets unless `silent`. */
void load_cut_plain(struct load_cut *c, unsigned kbps, bool silent);

#endif
