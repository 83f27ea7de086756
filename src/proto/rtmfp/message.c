/* SPDX-License-Identifier: MIT */
/* message.c - memory of messages that are sent. */
#include "proto/rtmfp/message.h"

#include "base/mem.h"

#include <stdlib.h>

struct rtmfp_message *rtmfp_message_new(size_t size, co_usec now)
{
    struct rtmfp_message *m = NULL;

    if (size <= UINT32_MAX)
        m = mem_try(sizeof(*m) + size);
    if (m)
        *m = (struct rtmfp_message){ .refs = 1, .size = (uint32_t)size, .made = now };
    return m;
}

void rtmfp_message_unref(struct rtmfp_message *m)
{
    if (m && --m->refs == 0)
        free(m);
}
