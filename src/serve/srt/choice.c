/* SPDX-License-Identifier: MIT */
/* choice.c - which of the workers' sockets gets a datagram of SRT. */
#include "serve/srt/choice.h"

enum { ID_AT = 12, CALLER_AT = 16 + 24 }; /* the id that it is for; the caller's, of a handshake */

/* What is shorter than that ends the program with 0: the first worker counts it as a stranger's. */
unsigned srt_choice_program(struct sock_filter out[SRT_CHOICE_STEPS], unsigned workers)
{
    const struct sock_filter program[SRT_CHOICE_STEPS] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ID_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, CALLER_AT),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };

    for (unsigned i = 0; i < SRT_CHOICE_STEPS; i++)
        out[i] = program[i];
    return SRT_CHOICE_STEPS;
}
