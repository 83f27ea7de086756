/* SPDX-License-Identifier: MIT */
/* status.c - what the numbers of answers are called, types of files, and the time of day. */
#include "proto/http/status.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    int status;
    const char *text;
} texts[] = {
    { 100, "Continue" }, { 101, "Switching Protocols" }, { 200, "OK" }, { 201, "Created" },
    { 202, "Accepted" }, { 204, "No Content" }, { 206, "Partial Content" },
    { 301, "Moved Permanently" }, { 302, "Found" }, { 303, "See Other" },
    { 304, "Not Modified" }, { 307, "Temporary Redirect" }, { 308, "Permanent Redirect" },
    { 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" },
    { 405, "Method Not Allowed" }, { 406, "Not Acceptable" }, { 408, "Request Timeout" },
    { 409, "Conflict" }, { 410, "Gone" }, { 411, "Length Required" },
    { 412, "Precondition Failed" }, { 413, "Content Too Large" }, { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" }, { 416, "Range Not Satisfiable" },
    { 417, "Expectation Failed" }, { 426, "Upgrade Required" }, { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" }, { 500, "Internal Server Error" },
    { 501, "Not Implemented" }, { 502, "Bad Gateway" }, { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" }, { 505, "HTTP Version Not Supported" },
};

const char *http_status_text(int status)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].status == status)
            return texts[i].text;
    }
    return "Status";
}

static const struct {
    const char *end, *type;
} types[] = {
    { ".m3u8", "application/vnd.apple.mpegurl" }, { ".ts", "video/MP2T" },
    { ".m4s", "video/iso.segment" }, { ".mp4", "video/mp4" }, { ".m4v", "video/mp4" },
    { ".m4a", "audio/mp4" }, { ".flv", "video/x-flv" }, { ".mpd", "application/dash+xml" },
    { ".html", "text/html;charset=utf-8" }, { ".htm", "text/html;charset=utf-8" },
    { ".js", "text/javascript;charset=utf-8" }, { ".mjs", "text/javascript;charset=utf-8" },
    { ".css", "text/css;charset=utf-8" }, { ".json", "application/json;charset=utf-8" },
    { ".txt", "text/plain;charset=utf-8" }, { ".xml", "text/xml;charset=utf-8" },
    { ".svg", "image/svg+xml" }, { ".png", "image/png" }, { ".jpg", "image/jpeg" },
    { ".jpeg", "image/jpeg" }, { ".gif", "image/gif" }, { ".webp", "image/webp" },
    { ".ico", "image/x-icon" }, { ".wasm", "application/wasm" }, { ".woff2", "font/woff2" },
    { ".woff", "font/woff" }, { ".ttf", "font/ttf" }, { ".mp3", "audio/mpeg" },
    { ".aac", "audio/aac" }, { ".ogg", "audio/ogg" }, { ".wav", "audio/wav" },
    { ".webm", "video/webm" }, { ".mkv", "video/x-matroska" }, { ".pdf", "application/pdf" },
    { ".map", "application/json;charset=utf-8" }, { ".swf", "application/x-shockwave-flash" },
    { ".key", "application/octet-stream" },
};

const char *http_type_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');

    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcasecmp(types[i].end, dot) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Not strftime() and strptime(): the names are English whatever the locale is. */
static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

const char *http_date_put(char buf[HTTP_DATE_SIZE], time_t t)
{
    struct tm tm = { 0 };

    (void)gmtime_r(&t, &tm);
    (void)snprintf(buf, HTTP_DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                   days + (size_t)tm.tm_wday % 7 * 3, tm.tm_mday % 100,
                   months + (size_t)tm.tm_mon % 12 * 3, (tm.tm_year + 1900) % 10000,
                   tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100);
    return buf;
}

static int number(const char *p, int digits)
{
    int v = 0;

    for (int i = 0; i < digits; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -1;
        v = v * 10 + (p[i] - '0');
    }
    return v;
}

/* Each place of the fixed form is where it is: "Sun, 06 Nov 1994 08:49:37 GMT". */
time_t http_date_get(const char *text)
{
    struct tm tm = { 0 };
    const char *month;

    if (strlen(text) != 29 || strcmp(text + 25, " GMT") != 0 || text[3] != ',')
        return -1;
    for (month = months; *month && strncmp(month, text + 8, 3) != 0; month += 3)
        ;
    tm.tm_mday = number(text + 5, 2);
    tm.tm_mon = (int)(month - months) / 3;
    tm.tm_year = number(text + 12, 4) - 1900;
    tm.tm_hour = number(text + 17, 2);
    tm.tm_min = number(text + 20, 2);
    tm.tm_sec = number(text + 23, 2);
    if (!*month || tm.tm_mday < 1 || tm.tm_year < 0 || tm.tm_hour < 0 || tm.tm_min < 0 ||
        tm.tm_sec < 0)
        return -1;
    return timegm(&tm);
}

const char *http_clock_text(struct http_clock *c)
{
    time_t now = time(NULL);

    if (now != c->at || !c->text[0]) {
        c->at = now;
        (void)http_date_put(c->text, now);
    }
    return c->text;
}
