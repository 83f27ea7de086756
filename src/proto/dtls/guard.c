/* SPDX-License-Identifier: MIT */
/* guard.c - filters the input of OpenSSL: [DTLS] RFC 6347, 4.1 and 4.2.2.
 *
 * On its own OpenSSL buffers, for each peer, ten incomplete messages of a hundred kilobytes and a
 * hundred records that arrived before their keys, each in 17 KB. So the headers are checked here:
 * those of a handshake are unencrypted, except for its last message.
 */
#include "proto/dtls/own.h"

#include "base/be.h"

enum { RECORD_HEAD = 13, MESSAGE_HEAD = 12, CHANGE_CIPHER = 20, HANDSHAKE = 22, APPLICATION = 23,
       MAJOR = 0xfe };

/* Checks the messages in a handshake record; OpenSSL detects anything that is not a message. */
static bool messages(struct dtls_guard *g, const uint8_t *p, size_t size)
{
    while (size >= MESSAGE_HEAD) {
        uint32_t length = be_get24(p + 1), part = be_get24(p + 9);
        unsigned number = be_get16(p + 4);

        if (number >= DTLS_MESSAGES_MAX)
            return false;
        if (g->lengths[number] == 0) {
            if (length > DTLS_REASSEMBLY_MAX - g->announced)
                return false;
            g->announced += length;
            g->lengths[number] = length + 1;
        } else if (g->lengths[number] != length + 1) {
            return false;
        }
        if (part > size - MESSAGE_HEAD)
            return true;
        p += MESSAGE_HEAD + part;
        size -= MESSAGE_HEAD + part;
    }
    return true;
}

static bool record(struct dtls_guard *g, const uint8_t *p, size_t size, bool done)
{
    bool encrypted = p[3] || p[4]; /* epoch */

    if (p[0] < CHANGE_CIPHER || p[0] > APPLICATION || p[1] != MAJOR)
        return false;
    if (++g->records > DTLS_RECORDS_A_SECOND)
        return false;
    if (done)
        return true;
    if (encrypted)
        return p[0] != APPLICATION && g->early++ < DTLS_EARLY_MAX;
    return p[0] != HANDSHAKE || messages(g, p + RECORD_HEAD, size - RECORD_HEAD);
}

bool dtls_guard_lets(struct dtls_guard *g, const uint8_t *data, size_t size, bool done,
                     co_usec now)
{
    if (now - g->second >= CO_SECONDS(1)) {
        g->second = now;
        g->records = 0;
    }
    if (size < RECORD_HEAD || size > DTLS_DATAGRAM_MAX)
        return false;
    while (size >= RECORD_HEAD) {
        size_t whole = RECORD_HEAD + be_get16(data + 11);

        if (whole > size || !record(g, data, whole, done))
            return false;
        data += whole;
        size -= whole;
    }
    return size == 0;
}
