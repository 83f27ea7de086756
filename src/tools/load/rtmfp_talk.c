/* SPDX-License-Identifier: MIT */
/* rtmfp_talk.c - what a client of RTMFP says over flows. */
#include "tools/load/rtmfp_talk.h"

#include "base/must.h"
#include "proto/rtmfp/rtmp.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/reply.h"
#include "tools/load/watch.h"

#include <stdio.h>
#include <string.h>

enum { BODY_MAX = 2048, PUBLISH_ID = 5, CONNECT_ID = 1, CREATE_ID = 4 };
enum { CONNECT, CREATE, STREAM, DONE }; /* asked */

static bool copy(char *out, size_t size, const char *text, size_t n)
{
    if (n >= size)
        return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

/* "app/stream": up to the last slash. */
static size_t app_size(const char *text)
{
    const char *slash = strrchr(text, '/');

    return slash ? (size_t)(slash - text) : 0;
}

bool load_rtmfp_talk_init(struct load_rtmfp_talk *t, enum load_rtmfp_wants wants, const char *app,
                          const char *url)
{
    size_t app_n = strlen(app), url_n = strlen(url);

    *t = (struct load_rtmfp_talk){ .wants = (uint8_t)wants };
    if (wants != LOAD_RTMFP_CONNECT) {
        app_n = app_size(app);
        url_n = app_size(url);
        if (app_n == 0 || !copy(t->name, sizeof(t->name), app + app_n + 1, strlen(app + app_n + 1)))
            return false;
    }
    return copy(t->app, sizeof(t->app), app, app_n) && copy(t->url, sizeof(t->url), url, url_n);
}

void load_rtmfp_talk_fini(struct load_rtmfp_talk *t)
{
    free(t->feed);
    t->feed = NULL;
}

/* ---- what it says */

static void say(struct rtmfp_flow_out *flow, struct wr *body, co_usec now)
{
    struct rtmfp_message *m;

    must_be(!body->bad);
    m = must(rtmfp_rtmp_message_new(RTMP_COMMAND, 0, rtmfp_bytes(body->buf, body->len), now));
    must_be(!flow || rtmfp_flow_out_write(flow, m, true));
    rtmfp_message_unref(m);
    wr_free(body);
}

static struct rtmfp_flow_out *open_flow(struct rtmfp_session *s, uint32_t stream,
                                        const struct rtmfp_flow_in *answers)
{
    uint8_t metadata[RTMFP_FLOW_METADATA_MAX];
    size_t n = rtmfp_flow_metadata_build(stream, metadata);

    return rtmfp_flow_open(s, rtmfp_bytes(metadata, n), answers, RTMFP_COMMANDS);
}

static void wait_for(struct load_rtmfp_talk *t, uint8_t asked, int transaction)
{
    t->asked = asked;
    t->answer = (struct load_answer){ .waits_for = transaction };
}

void load_rtmfp_talk_begin(struct load_rtmfp_talk *t, struct rtmfp_session *s, co_usec now)
{
    const struct rtmp_request_connect what = { .app = t->app, .tc_url = t->url };
    struct wr w;

    t->own = open_flow(s, 0, NULL);
    wr_init(&w, BODY_MAX);
    rtmp_request_connect(&w, CONNECT_ID, &what);
    say(t->own, &w, now);
    wait_for(t, CONNECT, CONNECT_ID);
}

void load_rtmfp_talk_tell(struct load_rtmfp_talk *t, co_usec now)
{
    struct wr w;

    wr_init(&w, BODY_MAX);
    amf0_string(&w, "setPeerInfo");
    amf0_number(&w, 0);
    amf0_null(&w);
    say(t->own, &w, now);
}

static void ask_for_stream(struct load_rtmfp_talk *t, co_usec now)
{
    struct wr w;

    wr_init(&w, BODY_MAX);
    rtmp_request_call(&w, "createStream", CREATE_ID, NULL);
    say(t->own, &w, now);
    wait_for(t, CREATE, CREATE_ID);
}

static void use_stream(struct load_rtmfp_talk *t, struct rtmfp_session *s, co_usec now)
{
    struct wr w;

    t->stream = open_flow(s, (uint32_t)t->answer.number, t->control);
    wr_init(&w, BODY_MAX);
    if (t->wants == LOAD_RTMFP_PUBLISH)
        rtmp_request_publish(&w, PUBLISH_ID, t->name, "live");
    else
        rtmp_request_play(&w, 0, t->name, RTMP_PLAY_ANY);
    say(t->stream, &w, now);
    wait_for(t, STREAM, 0);
}

/* ---- what it hears */

static enum load_rtmfp_told begin_feed(struct load_rtmfp_talk *t, struct rtmfp_session *s,
                                       const struct load_rtmfp_feed *feed, co_usec now)
{
    if (t->wants == LOAD_RTMFP_PUBLISH && t->stream) {
        t->feed = must(malloc(sizeof(*t->feed)));
        *t->feed = *feed;
        if (!load_rtmfp_feed_begin(t->feed, s, t->stream, t->control, now))
            return LOAD_RTMFP_DENIED;
    }
    t->asked = DONE;
    return LOAD_RTMFP_GRANTED;
}

static enum load_rtmfp_told go_on(struct load_rtmfp_talk *t, struct rtmfp_session *s,
                                  const struct load_rtmfp_feed *feed, co_usec now)
{
    if (!t->answer.answered || t->asked == DONE)
        return LOAD_RTMFP_GOING_ON;
    if (t->answer.refused)
        return LOAD_RTMFP_DENIED;
    if (t->asked == CONNECT && t->wants == LOAD_RTMFP_CONNECT) {
        t->asked = DONE;
        return LOAD_RTMFP_GRANTED;
    }
    if (t->asked == STREAM)
        return begin_feed(t, s, feed, now);
    if (t->asked == CONNECT)
        ask_for_stream(t, now);
    else
        use_stream(t, s, now);
    return LOAD_RTMFP_GOING_ON;
}

static void take_answer(struct load_answer *a, const struct rtmp_command *c)
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

static void hear_command(struct load_answer *a, const struct rtmfp_rtmp_message *said)
{
    const struct rtmp_msg msg = { .type = said->type, .size = (uint32_t)said->body.n,
                                  .payload = (uint8_t *)(uintptr_t)said->body.p };
    struct rtmp_command c;
    err_t err = rtmp_command_parse(&c, &msg);

    if (!err) {
        take_answer(a, &c);
        rtmp_command_free(&c);
    }
    err_free(&err);
}

enum load_rtmfp_told load_rtmfp_talk_hear(struct load_rtmfp_talk *t, struct rtmfp_session *s,
                                          const struct rtmfp_flow_in *f, struct rtmfp_bytes data,
                                          const struct load_rtmfp_feed *feed, co_usec now)
{
    struct rtmfp_rtmp_message said;

    if (!rtmfp_rtmp_message_parse(&said, data))
        return LOAD_RTMFP_GOING_ON;
    if ((said.type == RTMP_AUDIO || said.type == RTMP_VIDEO) && t->player && said.body.n > 0)
        load_watch(t->player, &(struct load_tag){ said.type, said.time, (uint32_t)said.body.n,
                                                  said.body.p, said.body.n });
    if (t->asked == DONE || (said.type != RTMP_COMMAND && said.type != RTMP_COMMAND_AMF3))
        return LOAD_RTMFP_GOING_ON;
    hear_command(&t->answer, &said);
    if (t->asked == CONNECT && t->answer.answered)
        t->control = f;
    return go_on(t, s, feed, now);
}

void load_rtmfp_talk_forget(struct load_rtmfp_talk *t, const struct rtmfp_flow_out *flow)
{
    if (t->own == flow)
        t->own = NULL;
    if (t->stream == flow)
        t->stream = NULL;
    if (t->feed)
        load_rtmfp_feed_forget(t->feed, flow);
}
