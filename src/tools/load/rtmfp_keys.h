/* SPDX-License-Identifier: MIT */
/* rtmfp_keys.h - what keys of RTMFP cost, by our code and by OpenSSL as it is. */
#ifndef TOOLS_LOAD_RTMFP_KEYS_H
#define TOOLS_LOAD_RTMFP_KEYS_H

int load_rtmfp_keys(void); /* JSON to stdout, µs of CPU; the status of the process */

#endif
