/* SPDX-License-Identifier: MIT */
/* mirror.c - rtc_server { black_hole }: copies the decrypted packets of sessions to an address. */
#include "base/log.h"
#include "base/url.h"
#include "serve/rtc/impl.h"

#include <string.h>

/* Parses "ip:port" or "[ip]:port". */
static err_t parse(const char *text, struct udp_addr *out)
{
    struct host_port at = host_port_split(text, strlen(text));
    char ip[64];

    if (at.bad || host_port_number(&at) < 1 || at.host_n >= sizeof(ip))
        return err_new(ERR_CONF, "black_hole: addr \"%s\" is not ip:port", text);
    memcpy(ip, at.host, at.host_n);
    ip[at.host_n] = '\0';
    return udp_addr_parse(out, ip, host_port_number(&at));
}

void rtc_mirror_open(struct rtc_service *s)
{
    const struct conf_black_hole *conf = &s->base.env->conf->rtc_server.black_hole;
    const struct udp_opts opts = { .plain = true };
    err_t err;

    udp_close(s->mirror);
    s->mirror = NULL;
    if (!conf->enabled)
        return;
    s->mirror_path = (struct udp_path){ 0 };
    err = parse(conf->addr ? conf->addr : "", &s->mirror_path.peer);
    if (!err)
        err = udp_open(&s->mirror, "", 0, &opts);
    if (err)
        log_end("black_hole", &err);
    else
        log_warn("WebRTC: black_hole copies all received packets, decrypted, to %s", conf->addr);
}

void rtc_mirror(struct rtc_service *s, const void *data, size_t size)
{
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &s->mirror_path, UDP_NOT_ECT };

    if (s->mirror)
        (void)udp_send(s->mirror, &out, 1);
}
