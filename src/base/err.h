/* SPDX-License-Identifier: MIT */
/* err.h - errors that carry a trace.
 *
 * A function that can fail returns err_t; NULL is success. An error has one
 * owner, the holder of the value, who does exactly one of these:
 *   return err_wrap(err, "...");   add what was being done, pass it up
 *   log_end(..., &err);            end it with a log line (sets it to NULL)
 *   err_free(&err);                end it silently (sets it to NULL)
 * Only the outermost function of a coroutine ends errors; all others pass them up.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

typedef struct err *err_t; /* the only typedef'd pointer in this code base */

/* Class of an error: decides the log level, which side is at fault, and whether to retry. */
enum err_class {
    ERR_CLASS_PEER,   /* the peer left; normal life, log at info */
    ERR_CLASS_STOP,   /* we were asked to stop; log at debug */
    ERR_CLASS_TIME,   /* nothing came in time */
    ERR_CLASS_PROTO,  /* the peer broke the protocol; count it, log at warn */
    ERR_CLASS_LIMIT,  /* a limit of ours was hit; log at warn */
    ERR_CLASS_DENIED, /* auth, hooks, no such stream */
    ERR_CLASS_SYS,    /* the system or we failed; log at error */
};

/* Users know these numbers from the logs of SRS; do not change them.
 *     name               number  class   text */
#define ERR_MAP(XX)                                                          \
    XX(SOCKET_CREATE,     1000,   SYS,    "Create socket failed")            \
    XX(SOCKET_BIND,       1002,   SYS,    "Bind socket failed")              \
    XX(SOCKET_LISTEN,     1003,   SYS,    "Listen on socket failed")         \
    XX(IO_CLOSED,         1004,   PEER,   "Peer closed the connection")      \
    XX(IO_SYSTEM,         1007,   SYS,    "Socket i/o failed")               \
    XX(IO_RESET,          1009,   PEER,   "Peer reset the connection")       \
    XX(IO_TIMEOUT,        1011,   TIME,   "Socket i/o timeout")              \
    XX(IO_CONNECT,        1012,   TIME,   "Connect to peer failed")          \
    XX(CONF,              1023,   SYS,    "Configuration is invalid")        \
    XX(CONF_SYNTAX,       1024,   SYS,    "Configuration syntax is wrong")   \
    XX(STREAM_BUSY,       1028,   DENIED, "Stream is already published")     \
    XX(PID_FILE,          1033,   SYS,    "Pid file failed")                 \
    XX(SYSTEM,            1040,   SYS,    "System call failed")              \
    XX(TOO_LARGE,         1050,   LIMIT,  "Over the size limit")             \
    XX(TOO_MANY,          1051,   LIMIT,  "Over the count limit")            \
    XX(NO_MEMORY,         1052,   SYS,    "Out of memory")                   \
    XX(STOPPED,           1053,   STOP,   "Asked to stop")                   \
    XX(NO_FILE,           1054,   DENIED, "No such file")                    \
    XX(LOOP,              1055,   SYS,    "Loop without progress")           \
    XX(PROXY,             1056,   PROTO,  "PROXY protocol header is wrong")  \
    XX(DNS,               1080,   TIME,   "Name does not resolve")           \
    XX(TRUNCATED,         2100,   PROTO,  "Message ends too early")          \
    XX(MALFORMED,         2101,   PROTO,  "Malformed message")               \
    XX(UNSUPPORTED,       2102,   PROTO,  "Not supported")                   \
    XX(RTMP_PLAIN,        2000,   PROTO,  "RTMP plain handshake required")   \
    XX(RTMP_CHUNK,        2001,   PROTO,  "RTMP chunk is wrong")             \
    XX(RTMP_MSG_SIZE,     2002,   PROTO,  "RTMP message size is wrong")      \
    XX(AMF0,              2003,   PROTO,  "AMF0 data is wrong")              \
    XX(RTMP_CONNECT,      2004,   PROTO,  "RTMP connect is wrong")           \
    XX(RTMP_HANDSHAKE,    2006,   PROTO,  "RTMP handshake failed")           \
    XX(RTMP_NO_REQUEST,   2008,   PROTO,  "RTMP response without a request") \
    XX(RTMP_REJECTED,     2009,   DENIED, "Rejected by the RTMP peer")       \
    XX(NO_VHOST,          2018,   DENIED, "No such vhost")                   \
    XX(VHOST_DISABLED,    2019,   DENIED, "Vhost is disabled")               \
    XX(RTSP,              2039,   PROTO,  "RTSP message is wrong")           \
    XX(RTSP_REFUSED,      2040,   DENIED, "Rejected by the RTSP peer")       \
    XX(RTSP_LOGIN,        2041,   DENIED, "RTSP peer refused the password")  \
    XX(DENIED,            2048,   DENIED, "Denied by security rules")        \
    XX(REFER_DENIED,      2049,   DENIED, "Denied by refer rules")           \
    XX(STREAM_END,        2050,   PEER,   "Stream ended")                    \
    XX(REPLACED,          2051,   PEER,   "Replaced by a new publisher")     \
    XX(IDLE,              2052,   PEER,   "No viewers")                      \
    XX(KICKED,            2053,   DENIED, "Kicked by the API")               \
    XX(HOOK_DENIED,       2054,   DENIED, "Denied by a callback")            \
    XX(TOKEN,             2055,   DENIED, "Denied: no valid token")          \
    XX(EXPIRED,           2056,   DENIED, "The token expired")               \
    XX(CODEC,             3000,   PROTO,  "Codec data is wrong")             \
    XX(HTTP,              4000,   PROTO,  "HTTP message is wrong")           \
    XX(TLS,               4041,   PROTO,  "TLS failed")                      \
    XX(RTC_SDP,           5012,   PROTO,  "WebRTC offer is wrong")           \
    XX(RTC_NEGOTIATE,     5018,   DENIED, "WebRTC has no codec in common")   \
    XX(RTC_DISABLED,      5021,   DENIED, "WebRTC is not enabled")           \
    XX(RTC_TIMEOUT,       5022,   TIME,   "WebRTC peer is silent")           \
    XX(RTC_DTLS,          5023,   PROTO,  "WebRTC handshake failed")         \
    XX(RTC_GONE,          5036,   PEER,   "WebRTC session was ended")        \
    XX(SRT,               6001,   PROTO,  "SRT packet is wrong")             \
    XX(SRT_TIMEOUT,       6002,   TIME,   "SRT peer is silent")              \
    XX(SRT_CONNECT,       6006,   DENIED, "SRT connection refused")          \
    XX(RTMFP,             7001,   PROTO,  "RTMFP packet is wrong")           \
    XX(RTMFP_TIMEOUT,     7002,   TIME,   "RTMFP peer is silent")            \
    XX(RTMFP_DISABLED,    7003,   DENIED, "RTMFP is not enabled")

enum err_code {
    ERR_OK = 0,
#define XX(name, number, cls, text) ERR_##name = number,
    ERR_MAP(XX)
#undef XX
};

/* err_new() creates an error. err_sys() also stores errno. err_wrap() adds a frame and keeps the
 * code; err must not be NULL. All record file, line and function. */
#define err_new(code, ...)  err_new_at(__FILE__, __LINE__, __func__, code, 0, __VA_ARGS__)
#define err_sys(code, ...)  err_new_at(__FILE__, __LINE__, __func__, code, 1, __VA_ARGS__)
#define err_wrap(err, ...)  err_wrap_at(__FILE__, __LINE__, __func__, err, __VA_ARGS__)

enum err_code  err_code(err_t err); /* ERR_OK for NULL */
enum err_class err_class(err_t err);

/* Writes "code=1011(IO_TIMEOUT)(Socket i/o timeout) : play : writev : waited 5000 ms" to buf:
 * outermost context first, the strerror() of its errno last; returns buf. */
const char *err_text(err_t err, char *buf, size_t size);
/* The same without the code, for people: "Socket i/o timeout: play: writev: waited 5000 ms". */
const char *err_message(err_t err, char *buf, size_t size);
/* Writes only the contexts and the cause, outermost first: "srs.conf:12: unknown directive ...",
 * for the author of the file; returns buf. */
const char *err_facts(err_t err, char *buf, size_t size);
/* Writes "func() [file:line][errno=N]" for frame i; 0 is the outermost. NULL: no such frame. */
const char *err_frame(err_t err, int i, char *buf, size_t size);

/* Copies an error with its trace, for another owner; returns NULL for NULL. */
err_t err_copy(err_t err) __attribute__((warn_unused_result));

/* Replaces a secret, such as a stream key, with *** in all texts of err. Secrets shorter than 4
 * bytes are not replaced, because they would match parts of other words. Both may be NULL. */
void err_hide(err_t err, const char *secret);

void err_free(err_t *err);
/* Returns the number of errors that this thread created minus those it freed; tests assert 0. An
 * error may be freed on another thread, so with several threads only the sum matters
 * (app/worker_counters.h). */
long err_live(void);

err_t err_new_at(const char *file, int line, const char *func, enum err_code code,
                 int with_errno, const char *fmt, ...)
    __attribute__((format(printf, 6, 7), warn_unused_result, returns_nonnull));
err_t err_wrap_at(const char *file, int line, const char *func, err_t err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6), warn_unused_result, nonnull(4), returns_nonnull));

#endif
