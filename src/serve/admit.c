/* SPDX-License-Identifier: MIT */
/* admit.c - may a client play? */
#include "serve/admit.h"

#include "serve/bandwidth.h"
#include "serve/tokens.h"

bool serve_play_is_asked(const struct conf_vhost *vhost)
{
    const struct conf_http_hooks *hooks = &vhost->http_hooks;

    return conf_security_limits(&vhost->security, CONF_PLAY) ||
           (hooks->enabled && hooks->on_play.n > 0);
}

err_t serve_ask_play(struct serve *serve, struct hooks_line **line,
                     const struct conf_vhost *vhost, const struct hooks_event *event,
                     int64_t *ends)
{
    const struct serve_stream *names = event->names;
    err_t err = conf_security_check(&vhost->security, CONF_PLAY, names->ip);

    if (!err)
        err = conf_refer_check(&vhost->refer, CONF_PLAY, names->page_url);
    if (!err)
        err = tokens_check(serve, vhost, CONF_PLAY, names, event->bearer, ends);
    if (!err)
        err = serve_room_out(serve, vhost, names);
    return err ? err : hooks_ask(serve, line, vhost, HOOKS_PLAY, event);
}
