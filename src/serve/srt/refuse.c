/* SPDX-License-Identifier: MIT */
/* refuse.c - responses to refused callers, and the SRT codes of errors. */
#include "serve/srt/admit.h"

uint32_t srt_peer_refusal(const struct srt_peer *p, err_t err)
{
    static const struct {
        enum err_code code;
        enum srt_refusal reject_reason;
    } rows[] = {
        { ERR_STREAM_BUSY, SRT_REFUSED_CONFLICT }, { ERR_REPLACED, SRT_REFUSED_CONFLICT },
        { ERR_NO_FILE, SRT_REFUSED_NOT_FOUND },    { ERR_TOO_MANY, SRT_REFUSED_OVERLOAD },
        { ERR_NO_MEMORY, SRT_REFUSED_RESOURCES },  { ERR_STOPPED, SRT_REFUSED_CLOSING },
    };

    if (p->request->reject_reason)
        return p->request->reject_reason;
    if (err_code(err) == ERR_HOOK_DENIED && p->request->streamid.user[0])
        return SRT_REFUSED_NO_AUTH;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (err_code(err) == rows[i].code)
            return rows[i].reject_reason;
    }
    if (err_class(err) == ERR_CLASS_DENIED)
        return SRT_REFUSED_FORBIDDEN;
    return err_class(err) == ERR_CLASS_TIME ? SRT_REFUSED_TIMEOUT : SRT_REFUSED_SERVER;
}

static void count_refusal(struct srt_service_stat *stat, uint32_t code)
{
    unsigned place = srt_refusal_index(code);

    if (place < SRT_REFUSAL_KINDS)
        stat->refused[place]++;
}

void srt_send_refusal(struct srt_endpoint *e, const struct udp_path *path,
                         const struct srt_handshake *h, uint32_t code)
{
    uint8_t out[SRT_HANDSHAKE_MAX];
    size_t size = srt_respond_refusal(h, (enum srt_refusal)code, (uint32_t)co_now(), out);

    count_refusal(&e->service->stat, code);
    if (size > 0)
        srt_endpoint_send(e, path, out, size);
}

void srt_refuse(struct srt_endpoint *e, const struct udp_path *path,
                const struct srt_handshake *h, uint32_t code)
{
    srt_send_refusal(e, path, h, code);
    srt_callers_refuse(&e->service->callers, &path->peer, h, code, co_now());
}
