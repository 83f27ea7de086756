/* SPDX-License-Identifier: MIT */
/* refuse.c - maps admission errors to HTTP statuses, and to SRS's numbers and names. */
#include "serve/rtc/impl.h"

#include "base/must.h"

#include <stdlib.h>

/* Numbers without an err_code. */
enum { SOURCE_BUSY = 5020, INVALID_SDP = 5043 };

struct row {
    enum err_code code;
    int status, number;
    const char *name;
};

static const struct row rows[] = {
    { ERR_RTC_SDP, 400, ERR_RTC_SDP, "RtcSdpDecode" },
    { ERR_RTC_NEGOTIATE, 400, ERR_RTC_NEGOTIATE, "RtcSdpNegotiate" },
    { ERR_RTC_DISABLED, 403, ERR_RTC_DISABLED, "RtcDisabled" },
    { ERR_VHOST_DISABLED, 403, ERR_RTC_DISABLED, "RtcDisabled" },
    { ERR_NO_VHOST, 404, ERR_NO_VHOST, "NoVhost" },
    { ERR_NO_FILE, 404, ERR_NO_FILE, "NoStream" },
    { ERR_STREAM_BUSY, 409, SOURCE_BUSY, "RtcSourceBusy" },
    { ERR_REPLACED, 409, SOURCE_BUSY, "RtcSourceBusy" },
    { ERR_TOO_MANY, 503, ERR_TOO_MANY, "TooMany" },
    { ERR_NO_MEMORY, 503, ERR_NO_MEMORY, "NoMemory" },
    { ERR_STOPPED, 503, ERR_STOPPED, "Stopped" },
    { ERR_DENIED, 401, ERR_DENIED, "SystemSecurityDeny" },
    { ERR_REFER_DENIED, 401, ERR_REFER_DENIED, "ReferDenied" },
    { ERR_TOKEN, 401, ERR_TOKEN, "TokenDenied" },
    { ERR_EXPIRED, 401, ERR_EXPIRED, "TokenExpired" },
    { ERR_KICKED, 401, ERR_KICKED, "Kicked" },
    { ERR_HOOK_DENIED, 401, ERR_HOOK_DENIED, "HookDenied" },
};

static struct row row_of(err_t err)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].code == err_code(err))
            return rows[i];
    }
    return (struct row){ err_code(err), 500, (int)err_code(err), "SystemError" };
}

void rtc_refuse(struct rtc_request *req, err_t *err)
{
    struct row row = row_of(*err);
    char text[512];

    if (row.code == ERR_RTC_SDP && req->offer_size == 0)
        row = (struct row){ ERR_RTC_SDP, 400, INVALID_SDP, "RtcInvalidSdp" };
    req->status = row.status;
    req->code = row.number;
    req->code_name = row.name;
    free(req->text);
    req->text = must_dup(err_text(*err, text, sizeof(text)));
    err_free(err);
}
