/* SPDX-License-Identifier: MIT */
/* fuzz_api.c - requests of untrusted clients to the API: the first byte selects the configuration and the client's
 * address, the rest is its input; and the same as a password and as a query.
 */
#include "app/api/api.h"
#include "app/api/auth.h"
#include "fuzz.h"
#include "proto/http/url.h"
#include "serve/http/mux.h"
#include "session/clients.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const size_t fuzz_input_most = FUZZ_LARGEST;

static const char *const confs[] = {
    "listen 1935; http_api { enabled on; } vhost __defaultVhost__ { } vhost a.b { }",
    "listen 1935; http_api { enabled on; auth { enabled on; username u; password p; delay 1; } "
    "raw_api { enabled on; allow_reload on; } }",
    "listen 1935; http_api { enabled on; private_network on; raw_api { enabled on; } }",
    "listen 1935; http_api { enabled on; open on; raw_api { enabled on; } } "
    "exporter { enabled on; }",
};
enum { CONFS = sizeof(confs) / sizeof(confs[0]) };

static struct {
    struct session_env env;
    struct http_service service;
    struct machine machine;
    struct reload_report reload;
    struct api_parts parts;
    struct conf *confs[CONFS];
} it;

static unsigned connections(void *arg)
{
    (void)arg;
    return 7;
}

static void begin(void)
{
    fuzz_serve(&it.env, confs[0]);
    it.confs[0] = it.env.conf;
    for (int i = 1; i < CONFS; i++)
        it.confs[i] = fuzz_conf(confs[i]);
    it.env.clients = clients_new(it.env.streams, "vid-1");
    machine_init(&it.machine);
    fuzz_time_flies(); /* a wrong password waits */
}

static err_t talk(void *arg)
{
    struct fuzz_peer *p = arg;

    return http_session_run(&it.service, &p->io, p->arg);
}

/* Locked addresses are forgotten with the API: it is a new one each time. */
static void ask(const uint8_t *data, size_t size)
{
    struct fuzz_peer peer;
    struct api *api;
    err_t err;

    it.env.conf = it.confs[data[0] % CONFS];
    it.service = (struct http_service){ .env = &it.env, .mux = http_mux_new() };
    it.parts = (struct api_parts){ .env = &it.env, .mux = it.service.mux,
                                   .machine = &it.machine, .reload = &it.reload,
                                   .connections = connections };
    api = api_new(&it.parts);
    fuzz_peer_init(&peer, data + 1, size - 1, 0);
    peer.arg = data[0] & 4 ? "10.0.0.1" : "127.0.0.1";
    err = fuzz_run(talk, &peer);
    err_free(&err);
    api_free(api);
    http_mux_free(it.service.mux);
}

static void ask_parts(const char *text)
{
    static const char *const keys[] = { "count", "start", "rpc", "callback", "" };
    char buf[16], host[64];

    (void)api_auth_is(text, "u", "p");
    (void)api_auth_is_token(text, "t");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = http_url_param(text, keys[i], buf, sizeof(buf));

        assert(!value || strlen(value) < sizeof(buf));
    }
    strncpy(host, text, sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    assert(http_url_host(host) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (!it.env.streams)
        begin();
    if (size == 0)
        return 0;
    ask(data, size);
    text = strndup((const char *)data + 1, size - 1);
    assert(text);
    ask_parts(text);
    free(text);
    assert(err_live() == 0 && live_source_live() == 0);
    return 0;
}
