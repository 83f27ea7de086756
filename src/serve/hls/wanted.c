/* SPDX-License-Identifier: MIT */
/* wanted.c - lists of streams that begin because somebody asks. */
#include "serve/hls/wanted.h"

#include "base/must.h"
#include "session/tokens.h"
#include "sink/hls/store/owner.h"
#include "sink/hls/worker.h"

#include <stdlib.h>
#include <string.h>

/* A list comes with its first segment, and players do not wait for ever. */
#define MOST CO_SECONDS(20)
#define LOOK CO_MS(100)
#define AGAIN CO_SECONDS(1) /* who waits is no player yet: it says again that it is there */

/* Which stream of that vhost would have a list there? */
static bool find_names(const struct conf_vhost *v, const char *path, struct hls_matched *out)
{
    const struct session_stream any = { .vhost = v->name };
    struct hls_template t;
    const char *below;

    return hls_template_find(v, &any, path, &t, &below) &&
           (t.sort == HLS_LIST || t.sort == HLS_MPD) &&
           hls_match_names(t.text, v->name, below, out);
}

static bool is_there(const struct hls_answer *a)
{
    struct session_stream names;
    bool dash;

    return hls_names_of_file(a->h, a->path, &names, &dash) ||
           hls_names_owner(a->h, a->path) != HLS_NO_OWNER;
}

static bool say(struct session_env *env, const struct session_stream *names)
{
    return env->on_wanted && env->on_wanted(env->arg, names);
}

/* A stranger makes nothing begin. */
static bool may_ask(const struct http_exchange *x, struct session_stream names)
{
    char *param = must_print("?%s", x->req->query);
    err_t err = conf_security_check(&x->vhost->security, CONF_PLAY, x->ip);

    names.param = param;
    if (!err)
        err = tokens_check(x->env, x->vhost, CONF_PLAY, &names,
                           http_request_field(x->req, "Authorization"), NULL);
    free(param);
    if (!err)
        return true;
    err_free(&err);
    return false;
}

bool hls_wanted(const struct http_exchange *x, const struct hls_answer *a)
{
    struct session_stream names = { .param = "", .tc_url = "", .page_url = "", .ip = x->ip };
    co_usec until = co_clock() + MOST, said = co_clock();
    struct hls_matched found;
    bool there = false;
    err_t err = NULL;

    if (!x->vhost || x->vhost->rtsp.pull.n == 0 || !find_names(x->vhost, a->path, &found))
        return false;
    session_stream_set_key(&names, stream_key_new(x->vhost->name, found.app, found.name));
    if (may_ask(x, names) && say(x->env, &names)) {
        while (!err && !(there = is_there(a)) && co_clock() < until) {
            err = co_sleep(LOOK);
            if (co_clock() - said < AGAIN)
                continue;
            said = co_clock();
            (void)say(x->env, &names);
        }
    }
    err_free(&err); /* the next wait of the request says so */
    (void)stream_key_unref(names.key);
    return there;
}
