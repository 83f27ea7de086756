/* SPDX-License-Identifier: MIT */
/* streamid.c - stream ids: "SRT Access Control", forms before it, and those of other servers. */
#include "proto/srt/streamid.h"

#include "base/text.h"
#include "base/utf8.h"

#include <string.h>
#include <strings.h>

/* A piece of the text, of which nothing is copied before it is known what it is. */
struct piece {
    const char *at;
    size_t size;
};

static bool begins(const struct piece *p, const char *with)
{
    size_t n = strlen(with);

    return p->size >= n && memcmp(p->at, with, n) == 0;
}

static bool is_text(const struct piece *p, const char *text, bool any_case)
{
    return p->size == strlen(text) && (any_case ? strncasecmp(p->at, text, p->size) == 0
                                                : memcmp(p->at, text, p->size) == 0);
}

/* What is in front of one of these characters; that and the rest leave. */
static struct piece cut(struct piece *rest, const char *at)
{
    struct piece front = { rest->at, 0 };

    while (front.size < rest->size && !strchr(at, rest->at[front.size]))
        front.size++;
    rest->at += front.size;
    rest->size -= front.size;
    if (rest->size > 0) {
        rest->at++;
        rest->size--;
    }
    return front;
}

static bool copy(const struct piece *p, char *out, size_t room)
{
    if (p->size >= room)
        return false;
    if (p->size > 0)
        memcpy(out, p->at, p->size);
    out[p->size] = 0;
    return true;
}

/* ---- what all forms have */

static struct piece decode_percent(const struct piece *p, char out[SRT_STREAMID_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < p->size; i++) {
        int byte = p->at[i] == '%' && i + 2 < p->size ? text_hex_byte(p->at + i + 1) : -1;

        out[n++] = byte >= 0 ? (char)byte : p->at[i];
        i += byte >= 0 ? 2 : 0;
    }
    return (struct piece){ out, n };
}

/* It goes into log lines, JSON and requests to backends. */
static bool is_clean(const struct piece *p)
{
    for (size_t i = 0; i < p->size; i++) {
        unsigned char c = (unsigned char)p->at[i];
        size_t more;

        if (c < 0x20 || c == 0x7f)
            return false;
        if (c < 0x80)
            continue;
        more = utf8_size((const unsigned char *)p->at + i, p->size - i);
        if (more == 0)
            return false;
        i += more - 1;
    }
    return true;
}

/* Behind what there is; the room is twice that of a stream id. */
static void add_param(struct srt_streamid *s, const char *key, const struct piece *value)
{
    size_t n = strlen(s->param), key_size = strlen(key);

    if (value->size == 0 || n + 1 + key_size + value->size >= sizeof(s->param))
        return;
    s->param[n] = n == 0 ? '?' : '&';
    n++;
    memcpy(s->param + n, key, key_size);
    memcpy(s->param + n + key_size, value->at, value->size);
    s->param[n + key_size + value->size] = 0;
}

/* `app/stream` or `stream`; a '/' in front of it says nothing. */
static bool take_resource(struct srt_streamid *s, struct piece p, const char *default_app)
{
    struct piece app = { default_app, strlen(default_app) };

    while (begins(&p, "/"))
        (void)cut(&p, "/");
    if (memchr(p.at, '/', p.size))
        app = cut(&p, "/");
    return app.size > 0 && p.size > 0 && copy(&app, s->app, sizeof(s->app)) &&
           copy(&p, s->stream, sizeof(s->stream));
}

/* ---- `#!::k=v,k=v` */

struct fields {
    struct piece host, resource, mode, type, user;
};

/* Which of them it is, of those that are more than parameters. */
static struct piece *field_of(struct fields *f, const struct piece *key)
{
    if (key->size != 1)
        return NULL;
    switch (key->at[0]) {
    case 'h': return &f->host;
    case 'r': return &f->resource;
    case 'm': return &f->mode;
    case 't': return &f->type;
    case 'u': return &f->user;
    default:  return NULL;
    }
}

static bool is_param(const struct piece *key)
{
    return key->size != 1 || !strchr("hrm", key->at[0]);
}

static struct fields read_fields(struct piece rest)
{
    struct fields f = { .host = { 0 } };

    while (rest.size > 0) {
        struct piece value = cut(&rest, ",?"), key = cut(&value, "=");
        struct piece *field = field_of(&f, &key);

        if (field)
            *field = value;
    }
    return f;
}

static void read_params(struct srt_streamid *s, struct piece rest)
{
    while (rest.size > 0) {
        struct piece item = cut(&rest, ",?"), value = item, key = cut(&value, "=");

        if (is_param(&key))
            add_param(s, "", &item);
    }
}

/* The form before `r`: all of it is in `h`. */
static bool take_old_host(struct srt_streamid *s, struct piece h, const char *default_app)
{
    struct piece rest = h, vhost = cut(&rest, "/");

    if (!memchr(rest.at, '/', rest.size))
        return rest.size > 0 && take_resource(s, h, default_app);
    return copy(&vhost, s->vhost, sizeof(s->vhost)) && take_resource(s, rest, default_app);
}

static bool take_place(struct srt_streamid *s, const struct fields *f, const char *default_app)
{
    if (!f->resource.at)
        return f->host.at && take_old_host(s, f->host, default_app);
    if (f->host.at && (memchr(f->host.at, '/', f->host.size) ||
                       !copy(&f->host, s->vhost, sizeof(s->vhost))))
        return false;
    return take_resource(s, f->resource, default_app);
}

static enum srt_refusal parse_fields(struct srt_streamid *s, const struct piece *text,
                                     const char *default_app)
{
    struct fields f = read_fields(*text);
    struct piece vhost;

    if (f.type.at && !is_text(&f.type, "stream", true))
        return SRT_REFUSED_MEDIA_TYPE;
    s->publish = is_text(&f.mode, "publish", true);
    if (f.mode.at && !s->publish && !is_text(&f.mode, "request", true))
        return SRT_REFUSED_BAD_MODE;
    if (!take_place(s, &f, default_app) || !copy(&f.user, s->user, sizeof(s->user)))
        return SRT_REFUSED_BAD_REQUEST;
    vhost = (struct piece){ s->vhost, strlen(s->vhost) };
    add_param(s, "vhost=", &vhost);
    read_params(s, *text);
    return SRT_WELCOME;
}

/* ---- `app/stream?k=v&k=v`, `publish:app/stream`, `publish:app/stream:user:pass` */

static enum srt_refusal parse_plain(struct srt_streamid *s, struct piece text,
                                    const struct srt_streamid_defaults *defaults)
{
    struct piece place = cut(&text, "?"), stream = place, user = { "", 0 };

    s->publish = begins(&place, "publish:") || (defaults->publish && !begins(&place, "read:"));
    if (begins(&place, "publish:") || begins(&place, "read:")) { /* and name:password behind it */
        (void)cut(&place, ":");
        stream = cut(&place, ":");
        user = cut(&place, ":");
    }
    if (user.size == 0)
        place.size = 0;
    if (!take_resource(s, stream, defaults->app) || !copy(&user, s->user, sizeof(s->user)))
        return SRT_REFUSED_BAD_REQUEST;
    add_param(s, "user=", &user);
    add_param(s, "pass=", &place);
    add_param(s, "", &text);
    return SRT_WELCOME;
}

/* As in addresses of RTMP, one may stand among the parameters. */
static void find_vhost(struct srt_streamid *s)
{
    struct piece params = { s->param, strlen(s->param) };

    while (!s->vhost[0] && params.size > 0) {
        struct piece value = cut(&params, "?&"), key = cut(&value, "=");

        if (is_text(&key, "vhost", false))
            (void)copy(&value, s->vhost, sizeof(s->vhost));
    }
}

static enum srt_refusal parse_any(struct srt_streamid *s, struct piece text,
                                  const struct srt_streamid_defaults *defaults)
{
    if (!begins(&text, "#!:"))
        return parse_plain(s, text, defaults);
    if (!begins(&text, "#!::"))
        return SRT_REFUSED_BAD_REQUEST;
    text.at += 4;
    text.size -= 4;
    return parse_fields(s, &text, defaults->app);
}

enum srt_refusal srt_streamid_parse(struct srt_streamid *out, const char *text, size_t size,
                                    const struct srt_streamid_defaults *defaults)
{
    char decoded[SRT_STREAMID_MAX];
    struct piece p = { text, size };
    enum srt_refusal why;

    memset(out, 0, sizeof(*out));
    if (!text || size == 0)
        p = (struct piece){ defaults->streamid, strlen(defaults->streamid) };
    if (p.size > SRT_STREAMID_MAX)
        return SRT_REFUSED_BAD_REQUEST;
    if (begins(&p, "%23!::") || begins(&p, "%23%21::"))
        p = decode_percent(&p, decoded);
    if (!is_clean(&p))
        return SRT_REFUSED_BAD_REQUEST;
    why = parse_any(out, p, defaults);
    if (why == SRT_WELCOME)
        find_vhost(out);
    return why;
}

/* ---- how it is shown */

enum { KNOWN = 3 }; /* of the heads below */

struct shown {
    char *out;
    size_t n, room; /* the 0 included */
    bool known;     /* the form is one that is parsed: a ':' is part of a value */
};

static void put(struct shown *s, const char *text, size_t size)
{
    size_t left = s->room - 1 - s->n;

    size = size < left ? size : left;
    memcpy(s->out + s->n, text, size);
    s->n += size;
    s->out[s->n] = 0;
}

/* What a stream is called, and who wants what of it, is no secret. All else may be. */
static bool is_told(const char *key, size_t size)
{
    return size == 1 && strchr("rhmtu", *key);
}

/* "k=v", "k:v", or whatever stands between commas. */
static void put_field(struct shown *s, const char *field, size_t size)
{
    size_t n = 0;

    while (n < size && field[n] != '=' && (field[n] != ':' || s->known))
        n++;
    if (n == size || (field[n] == '=' && is_told(field, n))) {
        put(s, field, size);
        return;
    }
    put(s, field, n + 1);
    put(s, "***", 3);
}

/* Without escapes, which may hide a comma or an '='. */
static size_t decode(const char *text, char *out, size_t room)
{
    size_t n = 0;

    for (; *text && n < room; text++) {
        int byte = *text == '%' ? text_hex_byte(text + 1) : -1;

        out[n++] = byte >= 0 ? (char)byte : *text;
        text += byte >= 0 ? 2 : 0;
    }
    return n;
}

/* Up to what may be a secret: parameters, and a name and password behind the stream. */
static void put_plain(struct shown *s, const char *text, size_t size)
{
    size_t from = 0, n;

    if (strncmp(text, "publish:", 8) == 0 || strncmp(text, "read:", 5) == 0)
        from = (size_t)(strchr(text, ':') - text) + 1;
    for (n = from; n < size && text[n] != '?' && text[n] != ':'; n++)
        continue;
    put(s, text, n);
    if (n < size) {
        put(s, text + n, 1);
        put(s, "***", 3);
    }
}

/* Of one that makes no sense, too: whatever stands behind an '=' is a secret, unless it is known to
 * be none. */
static void put_fields(struct shown *s, const char *text, size_t size)
{
    while (size > 0) {
        size_t n = 0;

        while (n < size && text[n] && !strchr(",?&;{}", text[n]))
            n++;
        put_field(s, text, n);
        if (n < size)
            put(s, text + n++, 1);
        text += n;
        size -= n;
    }
}

void srt_streamid_shown(const char *text, char *out, size_t room)
{
    static const char *const heads[] = { "#!::", "%23!::", "%23%21::", "#!:", "%23!:", "%23%21:" };
    struct shown s = { .out = out, .room = room };
    char plain[SRT_STREAMID_MAX];
    bool fields = false;
    size_t size;

    out[0] = 0;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && !fields; i++) {
        fields = strncmp(text, heads[i], strlen(heads[i])) == 0;
        if (fields) {
            s.known = i < KNOWN;
            put(&s, text, strlen(heads[i]));
            text += strlen(heads[i]);
        }
    }
    size = decode(text, plain, sizeof(plain));
    if (fields || (memchr(plain, '=', size) && !memchr(plain, '?', size)))
        put_fields(&s, plain, size);
    else
        put_plain(&s, plain, size);
}
