/* SPDX-License-Identifier: MIT */
/* rtmfp_hub.h - all clients of sb_rtmfp_load share one socket, and a second one for clients that
 * change their port. Each socket has a coroutine that reads; each client has one that waits.
 *
 * A server knows one session of an address and port, so each session has an address of its own: of
 * the range of --bind, or, to a server on this machine, the next one of 127.64.0.0/10.
 */
#ifndef TOOLS_LOAD_RTMFP_HUB_H
#define TOOLS_LOAD_RTMFP_HUB_H

#include "tools/load/rtmfp_peer.h"
#include "tools/load/run.h"

struct load_rtmfp_client;

err_t load_rtmfp_hub_init(struct load_run *run) __attribute__((warn_unused_result));
void load_rtmfp_hub_fini(void);
/* Keys, and the answer to connect; *out is the caller's until load_rtmfp_leave(). Yields.
 * ERR_RTMFP_TIMEOUT: nobody answered. */
err_t load_rtmfp_join(struct load_rtmfp_client **out, struct load_client *c,
                      const struct load_url *url, const char *bind_ip)
    __attribute__((warn_unused_result));
/* Waits for `time` at most; returns an error once the session has ended. Yields. */
err_t load_rtmfp_stay(struct load_rtmfp_client *p, co_usec time)
    __attribute__((warn_unused_result));
/* Continues the session from another port. */
err_t load_rtmfp_move(struct load_rtmfp_client *p) __attribute__((warn_unused_result));
/* Every second one has itself introduced to the one before it, and waits for keys with that.
 * Yields. ERR_RTMFP_TIMEOUT: nobody came of it. */
err_t load_rtmfp_pair(struct load_rtmfp_client *p) __attribute__((warn_unused_result));
/* First hellos, so many a second as the options say, each from an address that nobody has; until
 * the session is over. Yields. */
err_t load_rtmfp_flood(struct load_client *c, const struct load_url *url)
    __attribute__((warn_unused_result));
/* Says so, if it is not silent, and frees. */
void load_rtmfp_leave(struct load_rtmfp_client *p, bool silent);

#endif
