/* SPDX-License-Identifier: MIT */
/* digest.h - what challenges and credentials say, and responses: RFC 2617, RFC 7616. */
#ifndef RTSP_DIGEST_H
#define RTSP_DIGEST_H

#include <stdbool.h>

enum rtsp_hash { RTSP_MD5, RTSP_SHA256 };

enum { RTSP_RESPONSE_SIZE = 65 }; /* digits of the longest one, and a 0 */

/* Parameters of one challenge, or of credentials. Never NULL: "" is not there. A quoted one is what
 * stands between the quotes, its backslashes too: so it is hashed, and so it is sent back. */
struct rtsp_digest {
    const char *scheme; /* "Digest", "Basic" */
    const char *realm, *nonce, *opaque, *algorithm, *qop, *stale; /* challenges */
    const char *username, *uri, *response, *cnonce, *nc;          /* credentials, too */
};

/* The next one in a text that is changed, which holds its strings then: fields may have several
 * challenges. *text goes on behind it. False: there is none any more. */
bool rtsp_digest_next(char **text, struct rtsp_digest *out);

/* The hash that `algorithm` names: none is MD5. False: another one. */
bool rtsp_digest_hash(const struct rtsp_digest *d, enum rtsp_hash *out);

/* Of `d` are used: realm, nonce, username, uri, and with qop=auth (d->qop) cnonce and nc. Gives
 * `out`, hexadecimal in lower case; NULL: this OpenSSL has no such hash. */
const char *rtsp_digest_response(const struct rtsp_digest *d, enum rtsp_hash hash,
                                 const char *password, const char *method,
                                 char out[RTSP_RESPONSE_SIZE]);

#endif
