/* SPDX-License-Identifier: MIT */
/* admit.c - may a client play? */
#include "session/admit.h"

#include "session/bandwidth.h"
#include "session/tokens.h"

bool session_play_is_asked(const struct conf_vhost *vhost)
{
    const struct conf_http_hooks *hooks = &vhost->http_hooks;

    return conf_security_limits(&vhost->security, CONF_PLAY) ||
           (hooks->enabled && hooks->on_play.n > 0);
}

err_t session_ask_play(struct session_env *env, struct hooks_line **line,
                       const struct conf_vhost *vhost, const struct hooks_event *event,
                       int64_t *ends)
{
    const struct session_stream *names = event->names;
    err_t err = conf_security_check(&vhost->security, CONF_PLAY, names->ip);

    if (!err)
        err = conf_refer_check(&vhost->refer, CONF_PLAY, names->page_url);
    if (!err)
        err = tokens_check(env, vhost, CONF_PLAY, names, event->bearer, ends);
    if (!err)
        err = session_room_out(env, vhost, names);
    return err ? err : hooks_ask(env, line, vhost, HOOKS_PLAY, event);
}
