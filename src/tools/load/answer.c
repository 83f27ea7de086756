/* SPDX-License-Identifier: MIT */
/* answer.c - what a server says to a command of a client. */
#include "tools/load/answer.h"

#include "proto/rtmp/command.h"

#include <stdio.h>
#include <string.h>

static void take(struct load_answer *a, const struct rtmp_command *c)
{
    const struct amf_value *info = c->count > 1 ? &c->args[1] : NULL;
    bool status = c->id == RTMP_CMD_ON_STATUS, error = c->id == RTMP_CMD_ERROR;

    if (status ? a->waits_for != 0 : (!error && c->id != RTMP_CMD_RESULT) ||
                                         (int)c->transaction != a->waits_for)
        return;
    snprintf(a->code, sizeof(a->code), "%s", amf_get_string(info, "code", ""));
    a->number = rtmp_command_number(c, 1, 0);
    a->refused = error || strcmp(amf_get_string(info, "level", "status"), "error") == 0;
    /* some servers say NetStream.Play.Reset first, and data or public notes in between */
    a->answered = a->refused || !status || strstr(a->code, ".Start");
}

void load_answer_hear(struct load_answer *a, uint8_t type, const uint8_t *body, size_t size)
{
    const struct rtmp_msg msg = { .type = type, .size = (uint32_t)size,
                                  .payload = (uint8_t *)(uintptr_t)body };
    struct rtmp_command c;
    err_t err = rtmp_command_parse(&c, &msg);

    if (!err) {
        take(a, &c);
        rtmp_command_free(&c);
    }
    err_free(&err);
}
