/* SPDX-License-Identifier: MIT */
/* method.c - what requests ask for, and what the numbers of answers are called. */
#include "proto/rtsp/method.h"

#include <string.h>
#include <strings.h>

static const char *const names[] = {
    [RTSP_OPTIONS] = "OPTIONS", [RTSP_DESCRIBE] = "DESCRIBE", [RTSP_SETUP] = "SETUP",
    [RTSP_PLAY] = "PLAY", [RTSP_PAUSE] = "PAUSE", [RTSP_ANNOUNCE] = "ANNOUNCE",
    [RTSP_RECORD] = "RECORD", [RTSP_GET_PARAMETER] = "GET_PARAMETER",
    [RTSP_SET_PARAMETER] = "SET_PARAMETER", [RTSP_TEARDOWN] = "TEARDOWN",
    [RTSP_REDIRECT] = "REDIRECT",
};

enum rtsp_method rtsp_method_of(const char *name)
{
    for (int m = 0; m < RTSP_OTHER; m++) {
        if (strcmp(names[m], name) == 0)
            return (enum rtsp_method)m;
    }
    return RTSP_OTHER;
}

const char *rtsp_method_name(enum rtsp_method method)
{
    return method < RTSP_OTHER ? names[method] : "OTHER";
}

void rtsp_methods_put(struct wr *w, unsigned set)
{
    const char *between = "";

    for (int m = 0; m < RTSP_OTHER; m++) {
        if (set & RTSP_BIT(m)) {
            wr_text(w, between);
            wr_text(w, names[m]);
            between = ", ";
        }
    }
}

unsigned rtsp_methods_parse(const char *text)
{
    unsigned set = 0;

    for (size_t n; *text; text += n) {
        text += strspn(text, ", \t");
        n = strcspn(text, ", \t");
        for (int m = 0; m < RTSP_OTHER; m++) {
            if (strlen(names[m]) == n && strncasecmp(names[m], text, n) == 0)
                set |= RTSP_BIT(m);
        }
    }
    return set;
}

static const struct {
    int status;
    const char *text;
} texts[] = {
    { 100, "Continue" }, { 200, "OK" }, { 201, "Created" }, { 250, "Low on Storage Space" },
    { 300, "Multiple Choices" }, { 301, "Moved Permanently" }, { 302, "Moved Temporarily" },
    { 303, "See Other" }, { 304, "Not Modified" }, { 305, "Use Proxy" }, { 400, "Bad Request" },
    { 401, "Unauthorized" }, { 402, "Payment Required" }, { 403, "Forbidden" },
    { 404, "Not Found" }, { 405, "Method Not Allowed" }, { 406, "Not Acceptable" },
    { 407, "Proxy Authentication Required" }, { 408, "Request Timeout" }, { 410, "Gone" },
    { 411, "Length Required" }, { 412, "Precondition Failed" },
    { 413, "Request Entity Too Large" }, { 414, "Request-URI Too Large" },
    { 415, "Unsupported Media Type" }, { 451, "Parameter Not Understood" },
    { 452, "Conference Not Found" }, { 453, "Not Enough Bandwidth" },
    { 454, "Session Not Found" }, { 455, "Method Not Valid in This State" },
    { 456, "Header Field Not Valid for Resource" }, { 457, "Invalid Range" },
    { 458, "Parameter Is Read-Only" }, { 459, "Aggregate Operation Not Allowed" },
    { 460, "Only Aggregate Operation Allowed" }, { 461, "Unsupported Transport" },
    { 462, "Destination Unreachable" }, { 463, "Destination Prohibited" },
    { 464, "Data Transport Not Ready Yet" }, { 465, "Notification Reason Unknown" },
    { 466, "Key Management Error" }, { 470, "Connection Authorization Required" },
    { 471, "Connection Credentials Not Accepted" },
    { 472, "Failure to Establish Secure Connection" }, { 500, "Internal Server Error" },
    { 501, "Not Implemented" }, { 502, "Bad Gateway" }, { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" }, { 505, "RTSP Version Not Supported" },
    { 551, "Option Not Supported" }, { 553, "Proxy Unavailable" },
};

const char *rtsp_status_text(int status)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].status == status)
            return texts[i].text;
    }
    return "Status";
}
