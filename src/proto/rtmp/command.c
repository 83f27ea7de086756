/* SPDX-License-Identifier: MIT */
/* command.c - parses received commands and data messages [RTMP 7.2]. */
#include "proto/rtmp/command.h"

#include "base/rd.h"

#include <string.h>

static const struct {
    const char *name;
    enum rtmp_command_id id;
} commands[] = {
    { "connect", RTMP_CMD_CONNECT },
    { "createStream", RTMP_CMD_CREATE_STREAM },
    { "closeStream", RTMP_CMD_CLOSE_STREAM },
    { "deleteStream", RTMP_CMD_DELETE_STREAM },
    { "releaseStream", RTMP_CMD_RELEASE_STREAM },
    { "FCPublish", RTMP_CMD_FC_PUBLISH },
    { "FCUnpublish", RTMP_CMD_FC_UNPUBLISH },
    { "FCSubscribe", RTMP_CMD_FC_SUBSCRIBE },
    { "publish", RTMP_CMD_PUBLISH },
    { "setPeerInfo", RTMP_CMD_SET_PEER_INFO },
    { "play", RTMP_CMD_PLAY },
    { "play2", RTMP_CMD_PLAY2 },
    { "pause", RTMP_CMD_PAUSE },
    { "pauseRaw", RTMP_CMD_PAUSE },
    { "seek", RTMP_CMD_SEEK },
    { "receiveAudio", RTMP_CMD_RECEIVE_AUDIO },
    { "receiveVideo", RTMP_CMD_RECEIVE_VIDEO },
    { "getStreamLength", RTMP_CMD_GET_STREAM_LENGTH },
    { "_checkbw", RTMP_CMD_CHECK_BW },
    { "onStatus", RTMP_CMD_ON_STATUS },
    { "onBWDone", RTMP_CMD_ON_BW_DONE },
    { "onFCPublish", RTMP_CMD_ON_FC_PUBLISH },
    { "onFCUnpublish", RTMP_CMD_ON_FC_UNPUBLISH },
    { "_result", RTMP_CMD_RESULT },
    { "_error", RTMP_CMD_ERROR },
};

static enum rtmp_command_id find(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].id;
    }
    return RTMP_CMD_UNKNOWN;
}

/* The AMF3 types start with a byte 0 (some clients send 3). AMF0 follows, in which single values
 * may switch to AMF3. Some clients omit the byte. */
static struct rd open_body(const struct rtmp_msg *msg)
{
    struct rd r = rd_init(msg->payload, msg->size);
    bool amf3 = msg->type == RTMP_COMMAND_AMF3 || msg->type == RTMP_DATA_AMF3;

    if (amf3 && rd_left(&r) > 0 && (*r.p == 0 || *r.p == 3))
        rd_u8(&r);
    return r;
}

static err_t read_name(struct amf *a, struct rd *r, const char **out)
{
    struct amf_value v;
    err_t err = amf0_read(a, r, &v);

    if (err)
        return err;
    if (v.type != AMF_STRING)
        return err_new(ERR_AMF0, "a name of type %d", v.type);
    *out = v.string;
    return NULL;
}

static err_t read_command(struct rtmp_command *c, struct rd *r)
{
    struct amf_value v = amf_number(0);
    err_t err = read_name(&c->amf, r, &c->name);

    if (!err && rd_left(r) > 0)
        err = amf0_read(&c->amf, r, &v);
    if (err)
        return err;
    if (v.type != AMF_NUMBER)
        return err_new(ERR_AMF0, "transaction of type %d", v.type);
    c->id = find(c->name);
    c->transaction = v.number;
    while (!err && rd_left(r) > 0 && c->count < RTMP_COMMAND_ARGS) {
        err = amf0_read(&c->amf, r, &c->args[c->count]);
        if (!err)
            c->count++;
    }
    return err;
}

err_t rtmp_command_parse(struct rtmp_command *out, const struct rtmp_msg *msg)
{
    struct rd r = open_body(msg);
    err_t err;

    *out = (struct rtmp_command){ .name = "" };
    amf_init(&out->amf, 0);
    err = read_command(out, &r);
    if (!err)
        return NULL;
    err = err_wrap(err, "command %.40s", out->name);
    rtmp_command_free(out);
    return err;
}

void rtmp_command_free(struct rtmp_command *c)
{
    amf_free(&c->amf);
    *c = (struct rtmp_command){ .name = "" };
}

static const struct amf_value *arg(const struct rtmp_command *c, int i)
{
    return i < c->count ? &c->args[i] : NULL;
}

const char *rtmp_command_string(const struct rtmp_command *c, int i, const char *otherwise)
{
    return amf_is(arg(c, i), AMF_STRING) ? c->args[i].string : otherwise;
}

double rtmp_command_number(const struct rtmp_command *c, int i, double otherwise)
{
    return amf_is(arg(c, i), AMF_NUMBER) ? c->args[i].number : otherwise;
}

bool rtmp_command_boolean(const struct rtmp_command *c, int i, bool otherwise)
{
    return amf_is(arg(c, i), AMF_BOOLEAN) ? c->args[i].number != 0 : otherwise;
}

/* Converts a peer's number to 32 bits; 0 if it is out of range. */
static uint32_t to_u32(double d)
{
    return d >= 0 && d <= UINT32_MAX ? (uint32_t)d : 0;
}

/* [E-RTMP v2] "Enhancing NetConnection connect": the list of FourCCs. */
static bool lists_opus(const struct amf_value *list)
{
    if (!amf_has_members(list))
        return false;
    for (const struct amf_member *m = list->first; m; m = m->next) {
        if (amf_is(&m->value, AMF_STRING) &&
            (strcmp(m->value.string, "Opus") == 0 || strcmp(m->value.string, "*") == 0))
            return true;
    }
    return false;
}

static bool takes_opus(const struct amf_value *object, const struct amf_value *extra)
{
    const struct amf_value *map = amf_get(object, "audioFourCcInfoMap");
    uint32_t can = to_u32(amf_get_number(map, "Opus", 0)) | to_u32(amf_get_number(map, "*", 0));

    return lists_opus(amf_get(object, "fourCcList")) ||
           can & (RTMP_FOURCC_CAN_DECODE | RTMP_FOURCC_CAN_FORWARD) ||
           amf_get(extra, "srs_version");
}

err_t rtmp_connect_parse(struct rtmp_connect *out, const struct rtmp_command *c)
{
    const struct amf_value *o = arg(c, 0);

    if (!amf_has_members(o))
        return err_new(ERR_RTMP_CONNECT, "connect without an object");
    *out = (struct rtmp_connect){
        .tc_url = amf_get_string(o, "tcUrl", ""),
        .app = amf_get_string(o, "app", ""),
        .page_url = amf_get_string(o, "pageUrl", ""),
        .swf_url = amf_get_string(o, "swfUrl", ""),
        .flash_ver = amf_get_string(o, "flashVer", ""),
        .object_encoding = amf_get_number(o, "objectEncoding", 0),
        .enhanced = amf_get(o, "fourCcList") || amf_get(o, "capsEx") ||
                    amf_get(o, "videoFourCcInfoMap") || amf_get(o, "audioFourCcInfoMap"),
        .opus = takes_opus(o, arg(c, 1)),
        .caps_ex = to_u32(amf_get_number(o, "capsEx", 0)),
        .object = o,
        .extra = amf_has_members(arg(c, 1)) ? arg(c, 1) : NULL,
    };
    if (!*out->tc_url)
        return err_new(ERR_RTMP_CONNECT, "connect without a tcUrl");
    return NULL;
}

void rtmp_play_parse(struct rtmp_play *out, const struct rtmp_command *c)
{
    *out = (struct rtmp_play){
        .name = rtmp_command_string(c, 1, ""),
        .start = rtmp_command_number(c, 2, -2),
        .duration = rtmp_command_number(c, 3, -1),
        /* Flash sends a boolean, FMLE and others a number */
        .reset = rtmp_command_boolean(c, 4, rtmp_command_number(c, 4, 1) != 0),
    };
}

/* ---- user control events and the other messages that consist of a number [RTMP 5.4, 7.1.7] */

enum { FMS_EVENT_26 = 26 }; /* one byte of data; sent by Flash servers */

err_t rtmp_event_parse(struct rtmp_event *out, const struct rtmp_msg *msg)
{
    struct rd r = rd_init(msg->payload, msg->size);

    *out = (struct rtmp_event){ .id = rd_u16(&r) };
    if (out->id == FMS_EVENT_26)
        out->value = rd_u8(&r);
    else
        out->value = rd_u32(&r);
    if (out->id == RTMP_SET_BUFFER_LENGTH)
        out->more = rd_u32(&r);
    if (r.bad && out->id > RTMP_PING_RESPONSE) /* unknown kind: its size is not checked */
        return NULL;
    return r.bad ? err_new(ERR_RTMP_MSG_SIZE, "event %u of %u bytes", out->id, msg->size) : NULL;
}
