/* SPDX-License-Identifier: MIT */
/* rtc_floor.h - what encryption and the kernel alone take to send to so many players. */
#ifndef TOOLS_LOAD_RTC_FLOOR_H
#define TOOLS_LOAD_RTC_FLOOR_H

/* "--floor -c N --duration S [--kbps K] [--cm] [--no-sound] [--reader-cpu N]", and
 * "--cbc-every MS" for RTMFP: JSON to stdout, with
 * what a packet takes to encrypt. Returns the status of the process. */
int load_rtc_floor(int argc, char **argv);

#endif
