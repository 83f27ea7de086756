/* SPDX-License-Identifier: MIT */
/* streamid.c - parses stream ids: "SRT Access Control", older forms, and those of other servers. */
#include "proto/srt/streamid.h"

#include "base/span.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>

static bool copy(const struct span *p, char *out, size_t room)
{
    if (p->n >= room)
        return false;
    if (p->n > 0)
        memcpy(out, p->p, p->n);
    out[p->n] = 0;
    return true;
}

/* ---- common to all forms */

/* Checks a text that will appear in log lines, JSON and requests to backends. */
static bool is_clean(const struct span *p)
{
    for (size_t i = 0; i < p->n; i++) {
        unsigned char c = (unsigned char)p->p[i];
        size_t more;

        if (c < 0x20 || c == 0x7f)
            return false;
        if (c < 0x80)
            continue;
        more = utf8_size((const unsigned char *)p->p + i, p->n - i);
        if (more == 0)
            return false;
        i += more - 1;
    }
    return true;
}

/* Appends a parameter; there is room for twice the length of a stream id. */
static void add_param(struct srt_streamid *s, const char *key, const struct span *value)
{
    size_t n = strlen(s->param), key_size = strlen(key);

    if (value->n == 0 || n + 1 + key_size + value->n >= sizeof(s->param))
        return;
    s->param[n] = n == 0 ? '?' : '&';
    n++;
    memcpy(s->param + n, key, key_size);
    memcpy(s->param + n + key_size, value->p, value->n);
    s->param[n + key_size + value->n] = 0;
}

/* Parses `app/stream` or `stream`; ignores leading slashes. */
static bool take_resource(struct srt_streamid *s, struct span p, const char *default_app)
{
    struct span app = { default_app, strlen(default_app) };

    while (span_begins(p, "/"))
        (void)span_cut(&p, "/");
    if (memchr(p.p, '/', p.n))
        app = span_cut(&p, "/");
    return app.n > 0 && p.n > 0 && copy(&app, s->app, sizeof(s->app)) &&
           copy(&p, s->stream, sizeof(s->stream));
}

/* ---- `#!::k=v,k=v` */

struct fields {
    struct span host, resource, mode, type, user;
};

/* Returns the field with this key, or NULL if it is just a parameter. */
static struct span *field_of(struct fields *f, const struct span *key)
{
    if (key->n != 1)
        return NULL;
    switch (key->p[0]) {
    case 'h': return &f->host;
    case 'r': return &f->resource;
    case 'm': return &f->mode;
    case 't': return &f->type;
    case 'u': return &f->user;
    default:  return NULL;
    }
}

static bool is_param(const struct span *key)
{
    return key->n != 1 || !strchr("hrm", key->p[0]);
}

static struct fields read_fields(struct span rest)
{
    struct fields f = { .host = { 0 } };

    while (rest.n > 0) {
        struct span value = span_cut(&rest, ",?"), key = span_cut(&value, "=");
        struct span *field = field_of(&f, &key);

        if (field)
            *field = value;
    }
    return f;
}

static void read_params(struct srt_streamid *s, struct span rest)
{
    while (rest.n > 0) {
        struct span item = span_cut(&rest, ",?"), value = item, key = span_cut(&value, "=");

        if (is_param(&key))
            add_param(s, "", &item);
    }
}

/* The form without `r`, in which `h` contains everything. */
static bool take_old_host(struct srt_streamid *s, struct span h, const char *default_app)
{
    struct span rest = h, vhost = span_cut(&rest, "/");

    if (!memchr(rest.p, '/', rest.n))
        return rest.n > 0 && take_resource(s, h, default_app);
    return copy(&vhost, s->vhost, sizeof(s->vhost)) && take_resource(s, rest, default_app);
}

static bool take_stream(struct srt_streamid *s, const struct fields *f, const char *default_app)
{
    if (!f->resource.p)
        return f->host.p && take_old_host(s, f->host, default_app);
    if (f->host.p && (memchr(f->host.p, '/', f->host.n) ||
                       !copy(&f->host, s->vhost, sizeof(s->vhost))))
        return false;
    return take_resource(s, f->resource, default_app);
}

static enum srt_refusal parse_fields(struct srt_streamid *s, const struct span *text,
                                     const char *default_app)
{
    struct fields f = read_fields(*text);
    struct span vhost;

    if (f.type.p && !span_is_word(f.type, "stream"))
        return SRT_REFUSED_MEDIA_TYPE;
    s->publish = span_is_word(f.mode, "publish");
    if (f.mode.p && !s->publish && !span_is_word(f.mode, "request"))
        return SRT_REFUSED_BAD_MODE;
    if (!take_stream(s, &f, default_app) || !copy(&f.user, s->user, sizeof(s->user)))
        return SRT_REFUSED_BAD_REQUEST;
    vhost = (struct span){ s->vhost, strlen(s->vhost) };
    add_param(s, "vhost=", &vhost);
    read_params(s, *text);
    return SRT_WELCOME;
}

/* ---- `app/stream?k=v&k=v`, `publish:app/stream`, `publish:app/stream:user:pass` */

static enum srt_refusal parse_plain(struct srt_streamid *s, struct span text,
                                    const struct srt_streamid_defaults *defaults)
{
    struct span resource = span_cut(&text, "?"), stream = resource, user = { "", 0 };

    s->publish = span_begins(resource, "publish:") ||
                 (defaults->publish && !span_begins(resource, "read:"));
    /* the form with a mode, possibly followed by user:password */
    if (span_begins(resource, "publish:") || span_begins(resource, "read:")) {
        (void)span_cut(&resource, ":");
        stream = span_cut(&resource, ":");
        user = span_cut(&resource, ":");
    }
    if (user.n == 0)
        resource.n = 0;
    if (!take_resource(s, stream, defaults->app) || !copy(&user, s->user, sizeof(s->user)))
        return SRT_REFUSED_BAD_REQUEST;
    add_param(s, "user=", &user);
    add_param(s, "pass=", &resource);
    add_param(s, "", &text);
    return SRT_WELCOME;
}

/* As in RTMP URLs, the parameters may contain a vhost. */
static void find_vhost(struct srt_streamid *s)
{
    struct span params = { s->param, strlen(s->param) };

    while (!s->vhost[0] && params.n > 0) {
        struct span value = span_cut(&params, "?&"), key = span_cut(&value, "=");

        if (span_is(key, "vhost"))
            (void)copy(&value, s->vhost, sizeof(s->vhost));
    }
}

static enum srt_refusal parse_any(struct srt_streamid *s, struct span text,
                                  const struct srt_streamid_defaults *defaults)
{
    if (!span_begins(text, "#!:"))
        return parse_plain(s, text, defaults);
    if (!span_begins(text, "#!::"))
        return SRT_REFUSED_BAD_REQUEST;
    text.p += 4;
    text.n -= 4;
    return parse_fields(s, &text, defaults->app);
}

enum srt_refusal srt_streamid_parse(struct srt_streamid *out, const char *text, size_t size,
                                    const struct srt_streamid_defaults *defaults)
{
    char decoded[SRT_STREAMID_MAX];
    struct span p = { text, size };
    enum srt_refusal why;

    memset(out, 0, sizeof(*out));
    if (!text || size == 0)
        p = (struct span){ defaults->streamid, strlen(defaults->streamid) };
    if (p.n > SRT_STREAMID_MAX)
        return SRT_REFUSED_BAD_REQUEST;
    if (span_begins(p, "%23!::") || span_begins(p, "%23%21::"))
        p = (struct span){ decoded, text_unescape(decoded, p.p, p.n) };
    if (!is_clean(&p))
        return SRT_REFUSED_BAD_REQUEST;
    why = parse_any(out, p, defaults);
    if (why == SRT_WELCOME)
        find_vhost(out);
    return why;
}

/* ---- stream ids in the log */

enum { KNOWN = 3 }; /* number of parseable heads below */

struct shown {
    char *out;
    size_t n, room; /* including the terminating zero */
    bool known;     /* the form is parseable, so a ':' is part of a value */
};

static void put(struct shown *s, const char *text, size_t size)
{
    size_t left = s->room - 1 - s->n;

    size = size < left ? size : left;
    memcpy(s->out + s->n, text, size);
    s->n += size;
    s->out[s->n] = 0;
}

/* The stream's name, the user and the mode are not secret; everything else may be. */
static bool is_public(const char *key, size_t size)
{
    return size == 1 && strchr("rhmtu", *key);
}

/* Writes "k=v", "k:v", or any other text between commas. */
static void put_field(struct shown *s, const char *field, size_t size)
{
    size_t n = 0;

    while (n < size && field[n] != '=' && (field[n] != ':' || s->known))
        n++;
    if (n == size || (field[n] == '=' && is_public(field, n))) {
        put(s, field, size);
        return;
    }
    put(s, field, n + 1);
    put(s, "***", 3);
}

/* Writes the text up to what may be secret: parameters, and a user and password after the
 * stream. */
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

/* Also for malformed ids: anything after a '=' is secret unless the key is known to be harmless. */
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

void srt_streamid_redact(const char *text, char *out, size_t room)
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
    /* escapes may hide a comma or a '=' */
    size = text_unescape(plain, text, strnlen(text, sizeof(plain)));
    if (fields || (memchr(plain, '=', size) && !memchr(plain, '?', size)))
        put_fields(&s, plain, size);
    else
        put_plain(&s, plain, size);
}
