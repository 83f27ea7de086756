/* SPDX-License-Identifier: MIT */
/* hooks_body.c - the body of a callback, and the meaning of its response. */
#include "session/hooks_impl.h"

#include "base/jpick.h"
#include "base/jput.h"
#include "session/clients.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields that only some actions have. */
enum {
    F_STREAM = 1,     /* stream, param, tcUrl */
    F_PAGE = 2,
    F_IDENTITY = 4,   /* stream_url, stream_id, clients */
    F_BYTES = 8,
    F_FILE = 16,      /* cwd, file */
    F_SEGMENT = 32,   /* duration, url, m3u8, m3u8_url, seq_no */
};

static const struct {
    const char *name;
    unsigned fields;
} actions[HOOKS_KINDS] = {
    [HOOKS_CONNECT] = { "on_connect", F_STREAM | F_PAGE },
    [HOOKS_CLOSE] = { "on_close", F_BYTES },
    [HOOKS_PUBLISH] = { "on_publish", F_STREAM | F_IDENTITY },
    [HOOKS_UNPUBLISH] = { "on_unpublish", F_STREAM | F_IDENTITY },
    [HOOKS_PLAY] = { "on_play", F_STREAM | F_PAGE | F_IDENTITY },
    [HOOKS_STOP] = { "on_stop", F_STREAM | F_IDENTITY },
    [HOOKS_DVR] = { "on_dvr", F_STREAM | F_IDENTITY | F_FILE },
    [HOOKS_HLS] = { "on_hls", F_STREAM | F_IDENTITY | F_FILE | F_SEGMENT },
    [HOOKS_FORWARD] = { "on_forward", F_STREAM | F_IDENTITY },
    [HOOKS_HLS_NOTIFY] = { "on_hls_notify", 0 },
};

const char *hooks_name(enum hooks_action action)
{
    return actions[action].name;
}

static void put_identity(struct jput *j, const struct session_env *env,
                         const struct hooks_event *event, bool url)
{
    const struct session_stream *n = event->names;
    char text[4096], id[CLIENTS_NAME_ID_SIZE];
    struct stream_key *key;

    if (url)
        jput_text(j, "stream_url", clients_url(n->vhost, n->app, n->name, text, sizeof(text)));
    if (env->clients) {
        key = session_stream_key(n);
        clients_name_id(env->clients, key->path, id);
        jput_text(j, "stream_id", id);
        (void)stream_key_unref(key);
    }
    jput_uint(j, "clients", event->clients);
}

static void put_file(struct jput *j, const struct hooks_event *event)
{
    char cwd[1024];

    jput_text(j, "cwd", getcwd(cwd, sizeof(cwd)) ? cwd : "");
    jput_text(j, "file", event->file);
}

static void put_segment(struct jput *j, const struct hooks_event *event)
{
    jput_real(j, "duration", event->duration, 3);
    jput_text(j, "url", event->url);
    jput_text(j, "m3u8", event->m3u8);
    jput_text(j, "m3u8_url", event->m3u8_url);
    jput_int(j, "seq_no", event->seq_no);
}

void hooks_body(struct wr *w, const struct session_env *env, enum hooks_action action,
                const struct hooks_event *event)
{
    const struct session_stream *n = event->names;
    unsigned fields = actions[action].fields;
    struct jput j = { .w = w };

    jput_open(&j, NULL, '{');
    jput_text(&j, "server_id", env->server_id);
    jput_text(&j, "service_id", env->service_id);
    jput_text(&j, "action", actions[action].name);
    jput_text(&j, "client_id", event->client_id ? event->client_id : co_cid());
    jput_text(&j, "ip", n->ip);
    jput_text(&j, "vhost", n->vhost);
    jput_text(&j, "app", n->app);
    if (fields & F_STREAM) {
        jput_text(&j, "tcUrl", n->tc_url);
        jput_text(&j, "stream", n->name);
        jput_text(&j, "param", n->param);
    }
    if (event->token && fields & F_IDENTITY)
        jput_text(&j, "token", event->token);
    if (fields & F_PAGE)
        jput_text(&j, "pageUrl", n->page_url);
    if (fields & F_BYTES) {
        jput_uint(&j, "send_bytes", event->out);
        jput_uint(&j, "recv_bytes", event->in);
    }
    if (fields & F_FILE)
        put_file(&j, event);
    if (fields & F_SEGMENT)
        put_segment(&j, event);
    if (fields & F_IDENTITY)
        put_identity(&j, env, event, action != HOOKS_FORWARD);
    jput_close(&j, '}');
}

/* ---- responses */

static json_t *parse(const char *body, size_t size)
{
    if (size == 0 || !jpick_is_flat(body, size, HOOKS_DEPTH, HOOKS_VALUES))
        return NULL;
    return json_loadb(body, size, 0, NULL);
}

static bool is_zero(const char *body, size_t size)
{
    while (size > 0 && isspace((unsigned char)body[size - 1]))
        size--;
    while (size > 0 && isspace((unsigned char)*body)) {
        body++;
        size--;
    }
    return size == 1 && *body == '0';
}

err_t hooks_verdict(int status, const char *body, size_t size)
{
    json_t *v, *code;
    err_t err = NULL;

    if (status != 200 && status != 201)
        return err_new(ERR_HOOK_DENIED, "status %d", status);
    if (is_zero(body, size))
        return NULL;
    v = parse(body, size);
    code = json_object_get(v, "code"); /* NULL if v is not an object */
    if (!json_is_integer(code))
        err = err_new(ERR_HOOK_DENIED, "the response is neither 0 nor an object with a code");
    else if (json_integer_value(code) != 0)
        err = err_new(ERR_HOOK_DENIED, "code %lld", (long long)json_integer_value(code));
    json_decref(v);
    return err;
}

void hooks_forward_urls(const char *body, size_t size, char ***urls, size_t *n)
{
    json_t *v = parse(body, size);
    const json_t *list = json_object_get(json_object_get(v, "data"), "urls");
    size_t count = json_array_size(list);

    *n = 0;
    *urls = count ? calloc(count, sizeof(**urls)) : NULL;
    for (size_t i = 0; *urls && i < count; i++) {
        const char *url = json_string_value(json_array_get(list, i));

        if (url && ((*urls)[*n] = strdup(url)))
            (*n)++;
    }
    json_decref(v);
}
