/* SPDX-License-Identifier: MIT */
/* message.h - a message that is sent: its bytes, once for all flows that send it.
 *
 * One for a thread: it is counted without atomics. What a flow has of it is a reference and an
 * offset, so a player costs nothing for a message but what it has in flight of it.
 */
#ifndef PROTO_RTMFP_MESSAGE_H
#define PROTO_RTMFP_MESSAGE_H

#include "co/co.h"

#include <stdint.h>

struct rtmfp_message {
    unsigned refs;
    uint32_t size;
    co_usec made;      /* how late it is counts from here */
    uint8_t bytes[];
};

/* With one reference, for the caller to fill. NULL: there is no memory. */
struct rtmfp_message *rtmfp_message_new(size_t size, co_usec now);
/* One of RTMP (RFC 7425, section 5.3.1): type and time in milliseconds are written, the body of so
 * many bytes behind them is the caller's. */
enum { RTMFP_MESSAGE_HEAD = 5 };
struct rtmfp_message *rtmfp_message_of(uint8_t type, uint32_t time, size_t body, co_usec now);
static inline struct rtmfp_message *rtmfp_message_ref(struct rtmfp_message *m)
{
    m->refs++;
    return m;
}
void rtmfp_message_unref(struct rtmfp_message *m); /* NULL is fine */

#endif
