/* SPDX-License-Identifier: MIT */
/* rtc.c - directives, endpoints and checks of WebRTC. */
#include "conf/protocol.h"
#include "conf/table.h"
#include "conf/value.h"

#include <string.h>

#define YEARS 1e9

static const char *const protocol_words[] = { "udp", "tcp", "all", NULL };
static const char *const family_words[] = { "ipv4", "ipv6", "all", NULL };

static const struct conf_row tcp[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtc_tcp, enabled), "off", CONF_HANDLER,
      .help = "Serves WebRTC over TCP too. Turn it on for clients whose network blocks UDP." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtc_tcp, listen), "8000", CONF_HANDLER,
      .help = "TCP endpoints. The port may be that of http_server." },
};
static const struct conf_block tcp_block =
    CONF_BLOCK_OF(conf_rtc_tcp, tcp, "WebRTC over TCP.");

static const struct conf_row black_hole[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_black_hole, enabled), "off", CONF_AT_ONCE,
      .help = "Sends a copy of decrypted RTP to addr, for debugging." },
    { "addr", CONF_KIND_STRING, CONF_AT(conf_black_hole, addr), NULL, CONF_AT_ONCE,
      .sample = "127.0.0.1:10000", .help = "Address and UDP port that receive the copy." },
};
static const struct conf_block black_hole_block =
    CONF_BLOCK_OF(conf_black_hole, black_hole, "Copy of RTP for debugging.");

static const struct conf_row server[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_rtc_server, enabled), "off", CONF_HANDLER,
      .help = "Serves WebRTC, in each vhost whose rtc is on." },
    { "listen", CONF_KIND_LISTEN, CONF_AT(conf_rtc_server, listen), "8000", CONF_HANDLER,
      .help = "UDP endpoints. All sessions share one port." },
    { "tcp", CONF_KIND_BLOCK, CONF_AT(conf_rtc_server, tcp), .block = &tcp_block },
    { "protocol", CONF_KIND_ENUM, CONF_AT(conf_rtc_server, protocol), "udp", CONF_AT_ONCE,
      .words = protocol_words, .help = "Candidates that the server offers: udp, tcp or all." },
    { "candidate", CONF_KIND_CANDIDATE, CONF_AT(conf_rtc_server, candidate), "*", CONF_AT_ONCE,
      .help = "Addresses at which clients reach the server: IP addresses, names, * for all "
              "addresses of the machine, or $NAME for the value of an environment variable. Set "
              "it behind NAT and in containers." },
    { "use_auto_detect_network_ip", CONF_KIND_ON,
      CONF_AT(conf_rtc_server, use_auto_detect_network_ip), "on", CONF_AT_ONCE,
      .help = "Offers the addresses of the network interfaces for candidate *." },
    { "ip_family", CONF_KIND_ENUM, CONF_AT(conf_rtc_server, ip_family), "ipv4", CONF_AT_ONCE,
      .words = family_words, .help = "Family of these addresses: ipv4, ipv6 or all." },
    { "api_as_candidates", CONF_KIND_ON, CONF_AT(conf_rtc_server, api_as_candidates), "on",
      CONF_AT_ONCE, .help = "Also offers the host that the client used to reach the API." },
    { "resolve_api_domain", CONF_KIND_ON, CONF_AT(conf_rtc_server, resolve_api_domain), "on",
      CONF_AT_ONCE, .help = "Resolves this host if it is a name." },
    { "keep_api_domain", CONF_KIND_OFF, CONF_AT(conf_rtc_server, keep_api_domain), "off",
      CONF_AT_ONCE, .help = "Offers the name in addition to its address." },
    { "ecdsa", CONF_KIND_ON, CONF_AT(conf_rtc_server, ecdsa), "on", CONF_AT_ONCE,
      .help = "Uses an ECDSA certificate for DTLS. off: RSA, which needs more CPU for each "
              "session." },
    { "encrypt", CONF_KIND_ON, CONF_AT(conf_rtc_server, encrypt), "on", CONF_AT_ONCE,
      .help = "Encrypts media (SRTP). off lets clients request unencrypted media; for tests "
              "only." },
    { "reuseport", CONF_KIND_INT, CONF_AT(conf_rtc_server, reuseport), "1", CONF_HANDLER,
      .min = 1, .max = 1024,
      .help = "Number of UDP sockets on each port; each worker has at least one. Raise it if a "
              "socket loses datagrams. A reload adds sockets; removing some needs a restart." },
    { "merge_nalus", CONF_KIND_OFF, CONF_AT(conf_rtc_server, merge_nalus), "off", CONF_AT_ONCE,
      .help = "Packs several small NAL units into one RTP packet." },
    { "udp_gso", CONF_KIND_ON, CONF_AT(conf_rtc_server, udp_gso), "on", CONF_NEVER,
      .help = "Lets the kernel split large UDP writes into datagrams (GSO) if it can, which "
              "saves CPU. off: for comparison." },
    { "black_hole", CONF_KIND_BLOCK, CONF_AT(conf_rtc_server, black_hole),
      .block = &black_hole_block },
    { "dir", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "Never had an effect." },
    { "perf_stat", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "From older servers." },
    { "queue_length", CONF_KIND_OBSOLETE, .flags = CONF_QUIET, .help = "From older servers." },
};

static const struct conf_row vhost[] = {
    { "enabled", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, enabled), "off", CONF_AT_ONCE,
      .help = "Serves WebRTC in this vhost." },
    { "nack", CONF_KIND_ON, CONF_AT(conf_vhost_rtc, nack), "on", CONF_AT_ONCE,
      .help = "Requests lost packets from publishers, and retransmits packets that players lost." },
    { "nack_no_copy", CONF_KIND_ON, CONF_AT(conf_vhost_rtc, nack_no_copy), "on", CONF_AT_ONCE,
      .help = "Keeps packets for retransmission without copying them." },
    { "twcc", CONF_KIND_ON, CONF_AT(conf_vhost_rtc, twcc), "on", CONF_AT_ONCE,
      .help = "Reports to publishers when each packet arrived (TWCC), so that they adapt their "
              "bit rate." },
    { "stun_timeout", CONF_KIND_SECONDS, CONF_AT(conf_vhost_rtc, stun_timeout), "30", CONF_AT_ONCE,
      .min = 0.1, .max = YEARS, .help = "Ends a session after this many seconds without STUN." },
    { "stun_strict_check", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, stun_strict_check), "off",
      CONF_AT_ONCE, .help = "Rejects STUN messages that do not follow the RFC exactly." },
    { "dtls_role", CONF_KIND_STRING, CONF_AT(conf_vhost_rtc, dtls_role), "passive", CONF_AT_ONCE,
      .help = "Role in the DTLS handshake if the peer leaves the choice: active or passive." },
    { "dtls_version", CONF_KIND_STRING, CONF_AT(conf_vhost_rtc, dtls_version), "auto", CONF_AT_ONCE,
      .help = "DTLS version: dtls1.0, dtls1.2 or auto." },
    { "drop_for_pt", CONF_KIND_INT, CONF_AT(conf_vhost_rtc, drop_for_pt), "0", CONF_AT_ONCE,
      .max = 127,
      .help = "Drops received packets of this payload type, for tests. 0: none." },
    { "rtmp_to_rtc", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, rtmp_to_rtc), "off", CONF_AT_ONCE,
      .help = "Makes streams published over RTMP available to WebRTC players." },
    { "keep_bframe", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, keep_bframe), "off", CONF_AT_ONCE,
      .help = "Keeps B frames in streams from RTMP. Browsers cannot show them, so leave it off "
              "for browsers." },
    { "keep_avc_nalu_sei", CONF_KIND_ON, CONF_AT(conf_vhost_rtc, keep_avc_nalu_sei), "on",
      CONF_AT_ONCE,
      .help = "Keeps SEI messages of H.264 in streams from RTMP." },
    { "opus_bitrate", CONF_KIND_INT, CONF_AT(conf_vhost_rtc, opus_bitrate), "48000", CONF_AT_ONCE,
      CONF_RESET, .min = 8000, .max = 320000,
      .help = "Bit rate of Opus transcoded from AAC, in bit/s." },
    { "rtc_to_rtmp", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, rtc_to_rtmp), "off", CONF_AT_ONCE,
      .help = "Makes streams published over WebRTC available to all other protocols." },
    { "aac_bitrate", CONF_KIND_INT, CONF_AT(conf_vhost_rtc, aac_bitrate), "48000", CONF_AT_ONCE,
      CONF_RESET, .min = 8000, .max = 320000,
      .help = "Bit rate of AAC transcoded from Opus, in bit/s." },
    { "pli_for_rtmp", CONF_KIND_SECONDS, CONF_AT(conf_vhost_rtc, pli_for_rtmp), "6.0", CONF_AT_ONCE,
      CONF_RESET, .min = 0.5, .max = 30,
      .help = "Seconds between key frame requests to a WebRTC publisher whose stream goes to "
              "other protocols. Lower: new players and HLS start faster; higher: better video "
              "for the same bit rate." },
    { "init_rate_from_sdp", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, init_rate_from_sdp), "off",
      CONF_AT_ONCE,
      .help = "Converts timestamps with the clock rates of the SDP until the first RTCP sender "
              "report. Turn it on if a publisher sends reports late." },
    { "keep_original_ssrc", CONF_KIND_OFF, CONF_AT(conf_vhost_rtc, keep_original_ssrc), "off",
      CONF_AT_ONCE,
      .help = "Passes on the SSRC, sequence numbers and timestamps of a WebRTC publisher "
              "unchanged." },
};

const struct conf_block conf_table_rtc_server = CONF_BLOCK_OF(conf_rtc_server, server,
    "WebRTC server.");
const struct conf_block conf_table_vhost_rtc = CONF_BLOCK_OF(conf_vhost_rtc, vhost,
    "WebRTC in a vhost.");

/* ---- checks */

static err_t check(const struct conf *c)
{
    const struct conf_rtc_server *r = &c->rtc_server;

    if (r->enabled && r->protocol != CONF_RTC_UDP && !r->tcp.enabled)
        return err_new(ERR_CONF, "rtc_server: protocol is %s, and tcp is off: write "
                       "tcp { enabled on; }", r->protocol == CONF_RTC_TCP ? "tcp" : "all");
    return NULL;
}

static bool is_one_of(const char *word, const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

static err_t check_vhost(const struct conf_vhost *v)
{
    static const char *const roles[] = { "active", "passive" };
    static const char *const versions[] = { "auto", "dtls1.0", "dtls1.2" };

    if (!is_one_of(v->rtc.dtls_role, roles, 2))
        return err_new(ERR_CONF, "rtc: dtls_role must be active or passive, not \"%.20s\"",
                       v->rtc.dtls_role);
    if (!is_one_of(v->rtc.dtls_version, versions, 3))
        return err_new(ERR_CONF, "rtc: dtls_version must be auto, dtls1.2 or dtls1.0, not "
                       "\"%.20s\"",
                       v->rtc.dtls_version);
    return NULL;
}

static void warn(const struct conf *c, const struct conf_ctx *ctx)
{
    if (c->http_api.auth.rtc_bearer && !conf_auth_of_rtc(&c->http_api.auth))
        conf_warn(ctx, "http_api.auth: rtc_bearer_enabled has no effect without enabled on and "
                  "type bearer");
    if (!c->rtc_server.enabled)
        return;
    if (!c->http_api.enabled && !c->http_server.enabled)
        conf_warn(ctx, "rtc_server has no effect: WebRTC offers come over HTTP, and http_api and "
                  "http_server are both off");
    if (!c->rtc_server.encrypt)
        conf_warn(ctx, "rtc_server: encrypt is off: clients may request unencrypted media");
}

/* Values of min_latency and mw_msgs for WebRTC, before they are resolved for other protocols. */
static void resolve(struct conf *c)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        struct conf_vhost *v = (struct conf_vhost *)(uintptr_t)&c->vhost.v[i];

        v->rtc.min_latency = v->min_latency_set != CONF_OFF;
        v->rtc.mw_msgs = v->play.mw_msgs != CONF_UNSET ? v->play.mw_msgs
                                                       : v->rtc.min_latency ? 0 : 1;
    }
}

static const struct conf_served served[] = {
    { "rtc", "WebRTC", "rtc_server.listen", NULL, "rtc", PROTOCOL_RTC, CONF_SERVED_UDP,
      CONF_OF(rtc_server.enabled), CONF_NOWHERE, CONF_OF(rtc_server.listen), CONF_NOWHERE,
      { { "publish", "http://[api]/rtc/v1/whip/?app=live&stream=livestream[more]" },
        { "play", "http://[api]/rtc/v1/whep/?app=live&stream=livestream[more]" } }, 0 },
    /* on a port shared with HTTP the first byte shows the protocol */
    { "rtc", "WebRTC over TCP", "rtc_server.tcp.listen", NULL, "rtc", PROTOCOL_HTTP,
      CONF_SERVED_NO_PROXY, CONF_OF(rtc_server.tcp.enabled), CONF_OF(rtc_server.enabled),
      CONF_OF(rtc_server.tcp.listen), .tls = CONF_NOWHERE },
};

const struct conf_protocol conf_protocol_rtc = {
    .name = "rtc", .served = served, .n_served = 2,
    .vhost = offsetof(struct conf_vhost, rtc.enabled),
    .max = CONF_NOWHERE, .check = check, .check_vhost = check_vhost, .resolve = resolve,
    .warn = warn,
};
