/* SPDX-License-Identifier: MIT */
/* raw.c - commands over the API (raw_api). */
#include "app/api/api.h"
#include "app/os/signals.h"

#include <stdio.h>
#include <string.h>

static err_t show(struct api_call *c)
{
    const struct conf_http_api *api = &c->x->conf->http_api;
    char listen[64] = "";

    if (api->listen.n > 0)
        (void)snprintf(listen, sizeof(listen), "%s", api->listen.v[0].text);
    jput_open(&c->j, "http_api", '{');
    jput_bool(&c->j, "enabled", api->enabled);
    jput_text(&c->j, "listen", listen);
    jput_bool(&c->j, "crossdomain", api->crossdomain);
    jput_open(&c->j, "raw_api", '{');
    jput_bool(&c->j, "enabled", api->raw_api.enabled);
    jput_bool(&c->j, "allow_reload", api->raw_api.allow_reload);
    jput_bool(&c->j, "allow_query", false);
    jput_bool(&c->j, "allow_update", false);
    jput_close(&c->j, '}');
    jput_close(&c->j, '}');
    return NULL;
}

/* The reload starts soon after the response; `reload-fetch` returns its result. */
static err_t begin_reload(struct api_call *c)
{
    if (!c->x->conf->http_api.raw_api.allow_reload)
        return api_error(c, API_RAW_DISABLED);
    signals_raise(SIGNALS_RELOAD);
    return NULL;
}

static err_t fetch(struct api_call *c)
{
    const struct reload_report *r = c->of->reload;
    char rid[16];

    (void)snprintf(rid, sizeof(rid), "%u", r->count);
    jput_open(&c->j, "data", '{');
    jput_int(&c->j, "err", r->code);
    jput_text(&c->j, "msg", r->text ? r->text : "Success");
    jput_int(&c->j, "state", r->state);
    jput_text(&c->j, "rid", rid);
    jput_uint(&c->j, "applied", r->applied);
    jput_uint(&c->j, "need_restart", r->later);
    jput_open(&c->j, "changes", '[');
    for (size_t i = 0; i < r->lines; i++)
        jput_text(&c->j, NULL, r->line[i]);
    jput_close(&c->j, ']');
    jput_close(&c->j, '}');
    return NULL;
}

static err_t raw(struct api_call *c)
{
    char rpc[32];

    if (!api_param(c, "rpc", rpc, sizeof(rpc)))
        rpc[0] = '\0';
    if (strcmp(rpc, "raw") == 0)
        return show(c);
    if (!c->x->conf->http_api.raw_api.enabled)
        return api_error(c, API_RAW_DISABLED);
    if (strcmp(rpc, "reload") == 0)
        return begin_reload(c);
    if (strcmp(rpc, "reload-fetch") == 0)
        return fetch(c);
    return api_error(c, API_RAW_PARAMS);
}

static bool changes(const struct api_call *c)
{
    char rpc[32];

    return api_param(c, "rpc", rpc, sizeof(rpc)) && strcmp(rpc, "reload") == 0;
}

const struct api_row api_rows_raw[] = {
    { "raw", "raw api for srs, support CUID srs for instance the config", API_READ, raw,
      changes },
    { .path = NULL },
};
