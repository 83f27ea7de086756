/* SPDX-License-Identifier: MIT */
/* publish.c - one that publishes MPEG-TS. */
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>

#define LOOK CO_SECONDS(1)

struct srt_publish {
    struct session_publisher publisher;
    uint64_t packets;
};

err_t srt_publish_admit(struct srt_peer *p)
{
    struct srt_publish *pub = must(calloc(1, sizeof(*pub)));
    err_t err = session_publisher_begin(&pub->publisher, &p->base, CLIENTS_SRT_PUBLISH);

    if (err) {
        free(pub);
        return err;
    }
    p->publish = pub;
    return NULL;
}

void srt_publish_turn(struct srt_peer *p, co_usec now)
{
    struct srt_publish *pub = p->publish;
    struct srt_message m;

    while (srt_conn_next(&p->conn, &m, now)) {
        pub->packets++;
        session_publisher_media(&pub->publisher);
    }
    pub->publisher.place.active_at = now;
}

err_t srt_publish_run(struct srt_peer *p)
{
    struct session_publisher *pub = &p->publish->publisher;
    err_t err = NULL;

    session_publisher_silence(pub, p->base.conf->srt_server.peer_idle_timeout);
    co_stack_trim();
    while (!err) {
        bool changed;

        (void)!co_park(co_to_second(LOOK, co_now()));
        err = session_publisher_turn(pub, &changed);
    }
    return err;
}

void srt_publish_end(struct srt_peer *p, err_t why)
{
    struct srt_publish *pub = p->publish;

    p->publish = NULL;
    session_publisher_end(&pub->publisher, why);
    free(pub);
}
