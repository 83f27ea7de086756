/* SPDX-License-Identifier: MIT */
/* srtp2.c - time that Debian's libsrtp2 needs for a packet of 1,200 bytes, for comparison with our implementation. Only
 * the benchmark builds it, if the library is installed. */
#include <srtp2/srtp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20000, HEAD = 12, SIZE = 1200 };

static double seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ns; < 0: the library has no such profile. */
static double one_packet(srtp_profile_t profile)
{
    unsigned char key[64] = { 1, 2, 3 }, packet[HEAD + SIZE + SRTP_MAX_TRAILER_LEN] = { 0x80, 96 };
    srtp_policy_t policy;
    srtp_t out;
    double from = 0;

    memset(&policy, 0, sizeof(policy));
    policy.ssrc.type = ssrc_any_outbound;
    policy.key = key;
    if (srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile) ||
        srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile) || srtp_create(&out, &policy))
        return -1;
    for (int i = -1000; i < ROUNDS; i++) {
        int size = HEAD + SIZE;

        if (i == 0)
            from = seconds();
        packet[2] = (unsigned char)((unsigned)i >> 8);
        packet[3] = (unsigned char)i;
        if (srtp_protect(out, packet, &size))
            return -1;
    }
    from = seconds() - from;
    srtp_dealloc(out);
    return from * 1e9 / ROUNDS;
}

int main(void)
{
    if (srtp_init())
        return 1;
    printf("{ \"cm\": %.0f, \"gcm\": %.0f }\n", one_packet(srtp_profile_aes128_cm_sha1_80),
           one_packet(srtp_profile_aead_aes_128_gcm));
    return 0;
}
