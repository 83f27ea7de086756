/* SPDX-License-Identifier: MIT */
/* answer.c - what a server says to a command of a client. */
#include "tools/load/answer.h"

#include "proto/rtmp/amf0.h"
#include "proto/rtmp/msg.h"

#include <stdio.h>
#include <string.h>

static void take(struct load_answer *a, const char *name, double id, const struct amf_value *info)
{
    bool status = strcmp(name, "onStatus") == 0;
    bool error = strcmp(name, "_error") == 0;
    bool result = strcmp(name, "_result") == 0;

    if (status ? a->waits_for != 0 : (!error && !result) || (int)id != a->waits_for)
        return;
    snprintf(a->code, sizeof(a->code), "%s", amf_get_string(info, "code", ""));
    a->number = info->type == AMF_NUMBER ? info->number : 0;
    a->refused = error || strcmp(amf_get_string(info, "level", "status"), "error") == 0;
    /* some servers say NetStream.Play.Reset first, and data or public notes in between */
    a->answered = a->refused || !status || strstr(a->code, ".Start");
}

void load_answer_hear(struct load_answer *a, uint8_t type, const uint8_t *body, size_t size)
{
    struct rd r = rd_init(body, size);
    struct amf_value name = { 0 }, id = { 0 }, object = { 0 }, info = { 0 };
    struct amf amf;
    err_t err;

    if (type == RTMP_COMMAND_AMF3)
        (void)rd_u8(&r);
    amf_init(&amf, 0);
    err = amf0_read(&amf, &r, &name);
    if (!err)
        err = amf0_read(&amf, &r, &id);
    if (!err)
        err = amf0_read(&amf, &r, &object);
    if (!err && rd_left(&r) > 0)
        err = amf0_read(&amf, &r, &info);
    if (!err && name.type == AMF_STRING && id.type == AMF_NUMBER)
        take(a, name.string, id.number, &info);
    err_free(&err);
    amf_free(&amf);
}
