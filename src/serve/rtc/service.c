/* SPDX-License-Identifier: MIT */
/* service.c - the WebRTC service of one worker: begin, reload, end. */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/rtc/impl.h"
#include "audio/transcoder/transcoder.h"
#include "audio/lib.h"

#include <stdlib.h>

_Static_assert(offsetof(struct rtc_service, base) == 0, "env->service has either");

static struct rtc_service *service_of(struct datagram_service *s)
{
    return container_of(s, struct rtc_service, base);
}

static err_t load_audio(void *none)
{
    (void)none;
    (void)transcoder_prepare(); /* code that needs it reports what is missing */
    return NULL;
}

/* Loads 17 MB of libraries at the start, so that they delay no client. */
static void prepare_audio(struct rtc_service *s)
{
    const struct conf *c = s->base.env->conf;
    bool converts = false;
    err_t err;

    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost_rtc *rtc = &c->vhost.v[i].rtc;

        converts |= rtc->enabled && (rtc->rtmp_to_rtc || rtc->rtc_to_rtmp);
    }
    if (!converts || audio_lib_ready() || audio_lib_lacks())
        return;
    err = co_go(&s->base.group, "rtc-sound", load_audio, NULL);
    err_free(&err); /* then it is loaded at the first use */
}

static void reload(struct datagram_service *base)
{
    struct rtc_service *s = service_of(base);

    rtc_mirror_open(s);
    prepare_audio(s);
    if (s->rsa == base->env->conf->rtc_server.ecdsa)
        rtc_identities_forget(s); /* existing sessions keep their certificates */
}

/* ---- begin */

static struct datagram_shared *shared_new(unsigned workers)
{
    struct rtc_shared *s = must(calloc(1, sizeof(*s)));

    (void)workers;
    s->names = rtc_names_new();
    return &s->base;
}

static void shared_free(struct datagram_shared *shared)
{
    rtc_names_free(container_of(shared, struct rtc_shared, base)->names);
}

static struct datagram_service *make(struct session_env *env, struct datagram_shared *shared)
{
    struct rtc_service *s = must(calloc(1, sizeof(*s)));

    s->shared = container_of(shared, struct rtc_shared, base);
    s->rsa = !env->conf->rtc_server.ecdsa;
    rtc_table_init(&s->table);
    return &s->base;
}

static void begun(struct datagram_service *base)
{
    rtc_mirror_open(service_of(base));
    prepare_audio(service_of(base));
}

/* More sockets give more buffer space for bursts. */
static unsigned sockets_of(const struct conf *conf)
{
    return (unsigned)conf->rtc_server.reuseport;
}

/* ---- end */

static void free_service(struct datagram_service *base)
{
    struct rtc_service *s = service_of(base);

    udp_close(s->mirror);
    rtc_identities_forget(s);
    rtc_candidates_free(s);
    rtc_table_fini(&s->table);
    free(s);
}

static void input(struct datagram_endpoint *e, const struct udp_in *in, unsigned via, co_usec now)
{
    rtc_input(container_of(e, struct rtc_endpoint, base), in, via, now);
}

const struct datagram_protocol rtc_protocol = {
    .id = PROTOCOL_RTC, .name = "WebRTC", .reader = "rtc", .ender = "rtc-end",
    .share = shared_new, .unshare = shared_free, .make = make,
    .begun = begun, .reload = reload,
    .free = free_service,
    .endpoint = rtc_endpoint_new, .opts = rtc_endpoint_opts, .opened = rtc_endpoint_opened,
    .sockets = sockets_of, .in_use = rtc_endpoint_in_use, .closing = rtc_endpoint_closing,
    .input = input, .told = rtc_on_message,
};
