/* SPDX-License-Identifier: MIT */
/* floor.h - what the kernel alone takes: two processes on two cores, one sends, the other reads. */
#ifndef TOOLS_LOAD_FLOOR_H
#define TOOLS_LOAD_FLOOR_H

#include <sys/types.h>

_Noreturn void load_floor_die(const char *what);
/* Ends the process with a line to stderr if it is none of these. */
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

#endif
