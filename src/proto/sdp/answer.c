/* SPDX-License-Identifier: MIT */
/* answer.c - writes our answer to an offer, and the load tool's offer, which has the same lines. */
#include "proto/sdp/agree.h"

#include <inttypes.h>
#include <string.h>

/* RFC 8839, section 5.1: 2^24 * type, 2^8 * local, 256 - component. TCP ranks below all UDP. */
enum { TYPE_UDP = 126, TYPE_TCP = 100, LOCAL_MOST = 65535, COMPONENT = 1 };

struct out {
    struct wr *w;
    const struct sdp_agreed *a;
    const struct sdp_answer *ours;
    bool offer;
};

/* Stream names may contain any characters, SDP words may not: replaces the others. Stops at the
 * mark. */
static void put_word(struct wr *w, const char *text, char mark)
{
    for (; *text && *text != mark; text++)
        wr_u8(w, *text > ' ' && *text <= '~' ? (uint8_t)*text : '_');
}

static void put_plain(struct wr *w, const char *text)
{
    put_word(w, text, '\0');
}

static void put_head(const struct out *o)
{
    const struct sdp_agreed *a = o->a;
    bool any = false;

    wr_text(o->w, "v=0\r\no=");
    put_word(o->w, o->ours->signature, '/'); /* "NAME" or "NAME/VERSION" */
    wr_text(o->w, "/");
    put_plain(o->w, o->ours->version);
    wr_printf(o->w, " %" PRIu64 " 2 IN IP4 0.0.0.0\r\ns=%s\r\nt=0 0\r\n%s", o->ours->id,
              a->publish ? "SRSPublishSession" : "SRSPlaySession",
              o->offer ? "" : "a=ice-lite\r\n");
    for (unsigned i = 0; i < a->n; i++) {
        if (!a->sections[i].taken || !a->sections[i].bundled)
            continue;
        wr_text(o->w, any ? " " : "a=group:BUNDLE ");
        wr_text(o->w, a->sections[i].mid);
        any = true;
    }
    wr_text(o->w, any ? "\r\n" : "");
    wr_text(o->w, a->mixed ? "a=extmap-allow-mixed\r\n" : "");
    wr_text(o->w, "a=msid-semantic: WMS ");
    put_plain(o->w, o->ours->app);
    wr_text(o->w, "/");
    put_plain(o->w, o->ours->stream);
    wr_text(o->w, "\r\n");
}

static void put_transport(const struct out *o)
{
    const char *setup = o->a->active ? "active" : o->offer ? "actpass" : "passive";

    wr_printf(o->w, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\na=fingerprint:sha-256 %s\r\na=setup:%s\r\n",
              o->ours->ufrag, o->ours->pwd, o->ours->fingerprint, setup);
}

static void put_mid(const struct out *o, const struct sdp_answer_section *p)
{
    if (p->mid[0])
        wr_printf(o->w, "a=mid:%s\r\n", p->mid);
}

static const char *encoding(enum av_codec codec)
{
    const struct av_codec_row *row = av_codec_row(codec);

    return row->rtp.names[0] ? row->rtp.names[0] : row->name;
}

static void put_type(struct wr *w, const struct sdp_track *t)
{
    static const struct { unsigned flag; const char *name; } feedback[] = {
        { SDP_FB_TWCC, "transport-cc" }, { SDP_FB_REMB, "goog-remb" }, { SDP_FB_FIR, "ccm fir" },
        { SDP_FB_NACK, "nack" }, { SDP_FB_PLI, "nack pli" },
        { SDP_FB_RRTR, "rrtr" },
    };

    wr_printf(w, "a=rtpmap:%u %s/%u%s\r\n", t->type, encoding(t->codec), t->clock,
              t->codec == AV_OPUS ? "/2" : "");
    for (size_t i = 0; i < sizeof(feedback) / sizeof(feedback[0]); i++) {
        if (t->feedback & feedback[i].flag)
            wr_printf(w, "a=rtcp-fb:%u %s\r\n", t->type, feedback[i].name);
    }
    if (t->fmtp[0])
        wr_printf(w, "a=fmtp:%u %s\r\n", t->type, t->fmtp);
    if (t->rtx_type)
        wr_printf(w, "a=rtpmap:%u rtx/%u\r\na=fmtp:%u apt=%u\r\n", t->rtx_type, t->clock,
                  t->rtx_type, t->type);
}

/* RFC 8853: accepts all layers that the client can send. */
static void put_rids(struct wr *w, const struct sdp_track *t)
{
    for (unsigned i = 0; i < t->n_rids; i++)
        wr_printf(w, "a=rid:%s recv\r\n", t->rids[i]);
    for (unsigned i = 0; i < t->n_rids; i++)
        wr_printf(w, "%s%s", i ? ";" : "a=simulcast:recv ", t->rids[i]);
    wr_text(w, t->n_rids ? "\r\n" : "");
}

/* Sources of the media we send, RFC 5576 and RFC 8830. */
static void put_sources(const struct out *o, const struct sdp_track *t, const char *media)
{
    const uint32_t ssrcs[] = { t->ssrc, t->rtx_type ? t->rtx_ssrc : 0 };
    const char *cname = o->ours->cname;

    wr_printf(o->w, "a=msid:%s %s-%s\r\n", cname, cname, media);
    if (t->ssrc && ssrcs[1])
        wr_printf(o->w, "a=ssrc-group:FID %u %u\r\n", t->ssrc, ssrcs[1]);
    for (int i = 0; i < 2; i++) {
        if (ssrcs[i])
            wr_printf(o->w, "a=ssrc:%u cname:%s\r\na=ssrc:%u msid:%s %s-%s\r\n", ssrcs[i], cname,
                      ssrcs[i], cname, cname, media);
    }
}

static void sdp_put_candidates(struct wr *w, const struct sdp_answer *ours)
{
    for (unsigned i = 0; i < ours->n_candidates; i++) {
        const struct sdp_candidate *c = &ours->candidates[i];
        uint32_t type = c->tcp ? TYPE_TCP : TYPE_UDP;
        uint32_t priority = type << 24 | (LOCAL_MOST - i) << 8 | (256 - COMPONENT);

        wr_printf(w, "a=candidate:%u %d %s %u %s %u typ host %s\r\n", i, COMPONENT,
                  c->tcp ? "tcp" : "udp", priority, c->ip, c->port,
                  c->tcp ? "tcptype passive" : "generation 0");
    }
}

/* RFC 3264, section 6: port 0. */
static void put_rejected(const struct out *o, const struct sdp_answer_section *p)
{
    wr_printf(o->w, "m=%s 0 %s ", p->media, p->proto);
    if (strstr(p->proto, "SCTP"))
        wr_text(o->w, "webrtc-datachannel");
    else
        wr_printf(o->w, "%u", p->type);
    wr_text(o->w, "\r\nc=IN IP4 0.0.0.0\r\n");
    put_mid(o, p);
    wr_text(o->w, "a=inactive\r\n");
}

static void put_section(const struct out *o, const struct sdp_answer_section *p)
{
    const struct sdp_track *t = &o->a->tracks[p->track];
    bool sends = o->a->publish == o->offer;

    wr_printf(o->w, "m=%s 9 %s %u", p->media, p->proto, t->type);
    if (t->rtx_type)
        wr_printf(o->w, " %u", t->rtx_type);
    wr_text(o->w, "\r\nc=IN IP4 0.0.0.0\r\n");
    put_transport(o);
    put_mid(o, p);
    for (int e = 0; e < SDP_EXTS; e++) {
        if (t->ext[e])
            wr_printf(o->w, "a=extmap:%u %s\r\n", t->ext[e], sdp_ext_uri((enum sdp_ext)e));
    }
    wr_printf(o->w, "a=%s\r\na=rtcp-mux\r\na=rtcp-rsize\r\n",
              !t->on ? "inactive" : sends ? "sendonly" : "recvonly");
    put_type(o->w, t);
    if (t->on && sends)
        put_sources(o, t, p->media);
    if (!sends)
        put_rids(o->w, t);
}

static void put_all(const struct out *o)
{
    bool first = true;

    put_head(o);
    for (unsigned i = 0; i < o->a->n; i++) {
        if (!o->a->sections[i].taken) {
            put_rejected(o, &o->a->sections[i]);
            continue;
        }
        put_section(o, &o->a->sections[i]);
        if (first) /* the other sections share its transport, RFC 8843 section 7.3.3 */
            sdp_put_candidates(o->w, o->ours);
        first = false;
    }
}

void sdp_answer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours)
{
    struct out o = { .w = w, .a = a, .ours = ours };

    put_all(&o);
}

void sdp_offer_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours)
{
    struct out o = { .w = w, .a = a, .ours = ours, .offer = true };

    put_all(&o);
}

/* ---- fragments that a client sends for further candidates or an ICE restart: RFC 8840 */

/* Returns the value of this attribute, up to the end of the line. */
static bool attribute(const char *line, size_t size, const char *name, const char **value,
                      size_t *n)
{
    size_t k = strlen(name);

    if (size < k || memcmp(line, name, k) != 0)
        return false;
    *value = line + k;
    *n = size - k;
    return true;
}

static bool keep(char *out, size_t room, const char *text, size_t n)
{
    if (n == 0 || n >= room || memchr(text, ':', n))
        return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

/* The first values count: those of the session, or of the section that represents all. */
static bool read_line(struct sdp_fragment *f, const char *line, size_t size)
{
    const char *value;
    size_t n;

    if (attribute(line, size, "a=ice-ufrag:", &value, &n))
        return f->ufrag[0] || keep(f->ufrag, sizeof(f->ufrag), value, n);
    if (attribute(line, size, "a=ice-pwd:", &value, &n))
        return f->pwd[0] || keep(f->pwd, sizeof(f->pwd), value, n);
    if (attribute(line, size, "a=candidate:", &value, &n))
        f->candidates++;
    return size >= 2 && line[1] == '=';
}

bool sdp_fragment_parse(struct sdp_fragment *f, const char *text, size_t size)
{
    const char *end = text + size;
    bool any = false;

    memset(f, 0, sizeof(*f));
    if (size > SDP_OFFER_MAX || memchr(text, 0, size))
        return false;
    while (text < end) {
        const char *line = text, *lf = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((lf ? lf : end) - line);

        text = lf ? lf + 1 : end;
        while (n > 0 && strchr("\r \t", line[n - 1]))
            n--;
        if (n == 0)
            continue;
        if (n > SDP_LINE_MAX || !read_line(f, line, n))
            return false;
        any = true;
    }
    return any;
}

/* Section 9: the new credentials, and a section for the candidates. */
void sdp_fragment_write(struct wr *w, const struct sdp_agreed *a, const struct sdp_answer *ours)
{
    const struct sdp_answer_section *p = a->sections;

    while (p < a->sections + a->n && !p->taken)
        p++;
    wr_printf(w, "a=ice-lite\r\na=ice-ufrag:%s\r\na=ice-pwd:%s\r\n", ours->ufrag, ours->pwd);
    if (p < a->sections + a->n)
        wr_printf(w, "m=%s 9 %s %u\r\na=mid:%s\r\n", p->media, p->proto,
                  a->tracks[p->track].type, p->mid);
    sdp_put_candidates(w, ours);
    wr_text(w, "a=end-of-candidates\r\n");
}
