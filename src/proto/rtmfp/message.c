/* SPDX-License-Identifier: MIT */
/* message.c - memory of outgoing messages. */
#include "proto/rtmfp/message.h"

#include "base/mem.h"

#include <stdlib.h>

struct rtmfp_message *rtmfp_message_new(size_t size, co_usec now)
{
    struct rtmfp_message *m = NULL;

    if (size <= UINT32_MAX)
        m = mem_try(sizeof(*m) + size);
    if (m)
        *m = (struct rtmfp_message){ .refs = 1, .size = (uint32_t)size, .created_at = now };
    return m;
}

struct rtmfp_message *rtmfp_message_of(uint8_t type, uint32_t time, size_t body, co_usec now)
{
    struct rtmfp_message *m = NULL;

    if (body <= UINT32_MAX - RTMFP_MESSAGE_HEAD)
        m = rtmfp_message_new(RTMFP_MESSAGE_HEAD + body, now);
    if (!m)
        return NULL;
    m->bytes[0] = type;
    for (int i = 0; i < 4; i++)
        m->bytes[1 + i] = (uint8_t)(time >> 8 * (3 - i));
    return m;
}

void rtmfp_message_unref(struct rtmfp_message *m)
{
    if (m && --m->refs == 0)
        free(m);
}
