/* SPDX-License-Identifier: MIT */
/* build.c - a session description of ours: ASCII, CRLF, in the order of [SDP] 5. */
#include "proto/sdp/sdp.h"

#include <inttypes.h>
#include <string.h>

/* What a stream is called may be anything; a line may not. */
static void put_plain(struct wr *w, const char *text)
{
    if (!text[0])
        wr_text(w, "-");
    for (; *text; text++)
        wr_u8(w, *text >= ' ' && *text <= '~' ? (uint8_t)*text : '_');
}

void sdp_put_session(struct wr *w, const struct sdp_session_out *s)
{
    const char *address = s->address ? s->address : "127.0.0.1";
    bool v6 = strchr(address, ':') != NULL;

    wr_printf(w, "v=0\r\no=- %" PRIu64 " %" PRIu64 " IN IP%c %s\r\ns=", s->id, s->version,
              v6 ? '6' : '4', address);
    put_plain(w, s->name);
    wr_printf(w, "\r\nc=IN %s\r\nt=0 0\r\na=control:*\r\n", v6 ? "IP6 ::" : "IP4 0.0.0.0");
    if (s->duration < 0)
        wr_text(w, "a=range:npt=now-\r\n");
    else
        wr_printf(w, "a=range:npt=0-%" PRId64 ".%03d\r\n", s->duration / 1000,
                  (int)(s->duration % 1000));
}

void sdp_put_media(struct wr *w, const struct sdp_media_out *m)
{
    static const char *const kinds[] = { "video", "audio", "application", "data" };

    wr_printf(w, "m=%s 0 RTP/AVP %u\r\n", kinds[m->kind], m->type);
    if (m->kbits > 0)
        wr_printf(w, "b=AS:%u\r\n", m->kbits);
    if (m->name) {
        wr_printf(w, "a=rtpmap:%u %s/%u", m->type, m->name, m->clock);
        if (m->channels > 0)
            wr_printf(w, "/%u", m->channels);
        wr_text(w, "\r\n");
    }
    if (m->fmtp_size > 0) {
        wr_printf(w, "a=fmtp:%u ", m->type);
        wr_bytes(w, m->fmtp, m->fmtp_size);
        wr_text(w, "\r\n");
    }
    if (m->direction)
        wr_printf(w, "a=%s\r\n", m->direction);
    wr_printf(w, "a=control:%s\r\n", m->control);
}
