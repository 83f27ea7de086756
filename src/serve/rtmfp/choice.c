/* SPDX-License-Identifier: MIT */
/* choice.c - which of the workers' sockets gets a datagram of RTMFP. */
#include "serve/rtmfp/choice.h"

/* More than there are sockets: the kernel chooses by the addresses then. */
enum { BY_ADDRESSES = 0x7fffffff };

/* What is shorter than three words ends the program with 0: the first worker counts it. */
unsigned rtmfp_choice_program(struct sock_filter out[RTMFP_CHOICE_STEPS], unsigned workers)
{
    const struct sock_filter program[RTMFP_CHOICE_STEPS] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_RET | BPF_A, 0),
        BPF_STMT(BPF_RET | BPF_K, BY_ADDRESSES),
    };

    for (unsigned i = 0; i < RTMFP_CHOICE_STEPS; i++)
        out[i] = program[i];
    return RTMFP_CHOICE_STEPS;
}
