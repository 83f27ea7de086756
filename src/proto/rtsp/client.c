/* SPDX-License-Identifier: MIT */
/* client.c - client side of RTSP. */
#include "proto/rtsp/client.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TIMEOUT_USUAL = 60, ALIVE_MOST = 25, ALIVE_EARLY = 5 };

err_t rtsp_client_init(struct rtsp_client *c, const char *url)
{
    err_t err;

    *c = (struct rtsp_client){ .keepalive_method = RTSP_GET_PARAMETER };
    err = rtsp_location_parse(&c->location, url);
    if (err)
        return err;
    rtsp_login_init(&c->login, c->location.user, c->location.password);
    return NULL;
}

void rtsp_client_fini(struct rtsp_client *c)
{
    rtsp_location_free(&c->location);
    rtsp_login_fini(&c->login);
    *c = (struct rtsp_client){ .status = 0 };
}

/* ---- requests */

static void put_head(struct rtsp_client *c, struct wr *w, enum rtsp_method method, const char *url)
{
    rtsp_put_request(w, method, url, ++c->cseq);
    if (c->agent)
        rtsp_put_field(w, "User-Agent", c->agent);
    rtsp_login_put(&c->login, w, rtsp_method_name(method), url);
    if (*c->session)
        rtsp_put_field(w, "Session", c->session);
}

void rtsp_client_put(struct rtsp_client *c, struct wr *w, enum rtsp_method method, const char *url,
                     const struct rtsp_extra *more, size_t n, const void *body, size_t size)
{
    put_head(c, w, method, url ? url : c->location.url);
    for (size_t i = 0; i < n; i++)
        rtsp_put_field(w, more[i].name, more[i].value);
    rtsp_put_body(w, body, size);
    c->pending = c->cseq;
    c->method = method;
}

bool rtsp_client_put_keepalive(struct rtsp_client *c, struct wr *w, const char *url)
{
    bool known = c->methods & RTSP_BIT(RTSP_GET_PARAMETER);
    enum rtsp_method by = c->keepalive_method == RTSP_GET_PARAMETER && !known
                              ? RTSP_OPTIONS : c->keepalive_method;

    if (by == RTSP_OTHER)
        return false;
    c->keepalive_method = by;
    put_head(c, w, by, url ? url : c->location.url);
    rtsp_put_body(w, NULL, 0);
    c->keepalive = c->cseq;
    return true;
}

int rtsp_client_keepalive_interval(const struct rtsp_client *c)
{
    int t = c->timeout ? c->timeout : TIMEOUT_USUAL;

    t = t > 2 * ALIVE_EARLY ? t - ALIVE_EARLY : t / 2;
    return t > ALIVE_MOST ? ALIVE_MOST : t < 1 ? 1 : t;
}

/* ---- responses */

/* A camera that rejects a keepalive method never gets it again. */
static enum rtsp_result on_keepalive_response(struct rtsp_client *c, const struct rtsp_message *m)
{
    rtsp_login_begin(&c->login);
    if (m->status == 401)
        (void)rtsp_login_challenged(&c->login, m); /* used by the next keepalive */
    else if (m->status >= 400 && m->status != 454)
        c->keepalive_method = c->keepalive_method == RTSP_GET_PARAMETER ? RTSP_OPTIONS : RTSP_OTHER;
    return RTSP_RESULT_OTHER;
}

/* The password is not sent to another host, nor unencrypted after TLS, except in a scheme that
 * hides it. */
static void take_over_login(struct rtsp_client *c, const struct rtsp_location *to)
{
    bool same = strcasecmp(to->host, c->location.host) == 0 && (to->tls || !c->location.tls);
    bool hidden = c->login.hidden || !same;
    struct rtsp_login old = c->login;

    if (*to->user || *to->password) {
        rtsp_login_init(&c->login, to->user, to->password);
    } else {
        rtsp_login_init(&c->login, old.user, old.password);
        c->login.hidden = hidden;
    }
    rtsp_login_fini(&old);
}

static enum rtsp_result move(struct rtsp_client *c, const struct rtsp_message *m)
{
    const char *to = rtsp_message_field(m, "Location");
    struct rtsp_location place;
    err_t err;

    if (!to || ++c->redirects > RTSP_REDIRECTS_MAX)
        return RTSP_RESULT_REFUSED;
    err = rtsp_location_parse(&place, to);
    if (err) {
        err_free(&err);
        return RTSP_RESULT_REFUSED;
    }
    take_over_login(c, &place);
    rtsp_location_free(&c->location);
    c->location = place;
    c->session[0] = '\0';
    c->timeout = 0;
    c->methods = 0;
    c->keepalive_method = RTSP_GET_PARAMETER;
    return RTSP_RESULT_MOVED;
}

static void take_fields(struct rtsp_client *c, const struct rtsp_message *m)
{
    const char *session = rtsp_message_field(m, "Session");
    const char *methods = rtsp_message_field(m, "Public");
    int timeout = 0;

    if (session && rtsp_session_parse(session, c->session, &timeout) && timeout > 0)
        c->timeout = timeout;
    if (methods && c->method == RTSP_OPTIONS)
        c->methods = rtsp_methods_parse(methods);
}

enum rtsp_result rtsp_client_response(struct rtsp_client *c, const struct rtsp_message *m)
{
    if (m->is_request || m->wrong)
        return RTSP_RESULT_OTHER;
    if (c->keepalive && m->cseq == c->keepalive) {
        c->keepalive = 0;
        return on_keepalive_response(c, m);
    }
    if ((m->cseq >= 0 && m->cseq != c->pending) || c->pending == 0 || m->status < 200)
        return RTSP_RESULT_OTHER;
    c->pending = 0;
    c->status = m->status;
    if (m->status == 401)
        return rtsp_login_challenged(&c->login, m) ? RTSP_RESULT_AGAIN : RTSP_RESULT_LOGIN;
    rtsp_login_begin(&c->login);
    if (m->status == 301 || m->status == 302)
        return move(c, m);
    if (m->status >= 300)
        return RTSP_RESULT_REFUSED;
    take_fields(c, m);
    return RTSP_RESULT_DONE;
}

char *rtsp_client_base(const struct rtsp_client *c, const struct rtsp_message *answer)
{
    const char *base_field = rtsp_message_field(answer, "Content-Base");
    char *whole, *base;

    if (!base_field || !*base_field)
        base_field = rtsp_message_field(answer, "Content-Location");
    if (!base_field || (*base_field != '/' && !strstr(base_field, "://")))
        base_field = "";
    whole = must_print("%s%s", *base_field == '/' ? "rtsp://h" : "", base_field);
    base = rtsp_url_join(c->location.url, whole);
    free(whole);
    return base;
}
