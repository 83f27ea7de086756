/* SPDX-License-Identifier: MIT */
/* message.h - an outgoing message: its bytes, shared by all flows that send it.
 *
 * Belongs to one thread, so the reference count is not atomic. A flow stores a reference and an
 * offset, so per player a message costs only its fragments in flight.
 */
#ifndef PROTO_RTMFP_MESSAGE_H
#define PROTO_RTMFP_MESSAGE_H

#include "co/co.h"

#include <stdint.h>

struct rtmfp_message {
    unsigned refs;
    uint32_t size;
    co_usec created_at;      /* its lateness counts from here */
    uint8_t bytes[];
};

/* Returns a message with one reference, for the caller to fill, or NULL if memory allocation
 * fails. */
struct rtmfp_message *rtmfp_message_new(size_t size, co_usec now);
/* Creates an RTMP message (RFC 7425, section 5.3.1): writes type and time in milliseconds; the
 * caller writes the body of `body` bytes after them. */
enum { RTMFP_MESSAGE_HEAD = 5 };
struct rtmfp_message *rtmfp_message_of(uint8_t type, uint32_t time, size_t body, co_usec now);
static inline struct rtmfp_message *rtmfp_message_ref(struct rtmfp_message *m)
{
    m->refs++;
    return m;
}
void rtmfp_message_unref(struct rtmfp_message *m); /* NULL is allowed */

#endif
