/* SPDX-License-Identifier: MIT */
/* opts.h - the command line of the load tools, as one table. */
#ifndef TOOLS_LOAD_OPTS_H
#define TOOLS_LOAD_OPTS_H

#include "av/codec.h"
#include "base/err.h"

#include <stdbool.h>

enum load_tools {
    LOAD_PLAY = 1, LOAD_FAST = 2, LOAD_PUBLISH = 4, LOAD_HTTP = 8, LOAD_HLS = 16,
    LOAD_RTSP = 32, LOAD_RTSP_PUBLISH = 64, LOAD_SRT = 128, LOAD_RTC = 256,
    LOAD_RTMFP = 512, LOAD_ALL = 1023, LOAD_PUBLISHERS = LOAD_PUBLISH | LOAD_RTSP_PUBLISH,
    LOAD_RTSP_BOTH = LOAD_RTSP | LOAD_RTSP_PUBLISH,
    LOAD_LINKS = LOAD_SRT | LOAD_RTC | LOAD_RTMFP, /* over a network that may be bad */
};

struct load_opts {
    enum load_tools tool;
    int clients;
    const char *url;       /* may have {i} */
    const char *input;     /* FLV file of publishers; of SRT also TS */
    int stream_count;      /* {i} is the client's number modulo this; 0: the number itself */
    int repeat;            /* sessions of each client; 0: for ever */
    double start;          /* s, clients begin spread over this time */
    double spread;         /* ms from one client's begin to the next one's; 0: as `start` says */
    double delay, error;   /* s before the next session, after a good and after a failed one */
    double summary;        /* s between report lines */
    double duration;       /* s of the whole; 0: until all are done or a signal comes */
    double ramp;           /* clients a second; 0: as `start` says */
    double churn;          /* s that a session lasts, on average; 0: to its end */
    double warmup;         /* s after the last client began when measuring begins; < 0: at once */
    double timeout;        /* s a peer may be silent */
    int stall_ms, late_ms;
    int chunk_size;
    int read_kbps;         /* a player that reads no faster; 0: as fast as it can */
    const char *bind;      /* "ip" or "ip-ip": source addresses in turn */
    bool fast;             /* take the bytes and drop them */
    bool plain;            /* HLS without low latency */
    double hold_back;      /* s behind the edge to play HLS; 0: as the list says */
    bool idle;             /* connect, and neither play nor publish */
    bool udp;              /* RTP in datagrams, not between the messages */
    bool tunnel;           /* RTSP inside of HTTP */
    const char *npt;       /* where to begin, as Range has it; NULL: not said */
    double scale;          /* how fast; 0: not said */
    double from;           /* s of a recording, where play begins; < 0: not said */
    double anywhere;       /* each begins at random within these s of it; 0: no */
    int mtu;               /* bytes of a payload of RTP at most */
    int latency_ms;        /* of SRT, both ways, where the URL does not say it */
    const char *passphrase;
    int pbkeylen;          /* bytes; 0: as the URL says, or 16 */
    int payload;           /* bytes of TS in a packet of SRT */
    /* a bad network, both ways */
    double loss, twice, reorder; /* % */
    double loss_at, loss_for;    /* s until they begin, and how long they last; 0: to the end */
    int loss_run;          /* so many are lost in a row */
    double one_way;        /* ms */
    double cut, cut_at;    /* s that all are lost, and after so many */
    int seed;
    const char *codec;     /* of video that a WebRTC player offers */
    enum av_codec vcodec;  /* the same */
    bool cm;               /* offer AES-CM alone */
    double rebind;         /* s, then a session goes on from another port; 0: never */
    double ping;           /* s between pings of RTMFP */
    int group;             /* of keys: 2, 5, 14 */
    bool hmac, sequence;   /* ask for HMACs, for numbers of packets */
    bool bare;             /* keys and no connect */
    bool play;             /* of RTMFP */
    bool pair;             /* every second client opens a session to the one before it */
    int flood;             /* first hellos a second, and nothing else; 0: none */
    double silent, move;   /* % of sessions that vanish, that go on from another port */
    int pid;               /* of the server, to look at; 0: none */
    bool keep;             /* who falls off begins again at once, for ever */
    bool no_marker, json, verbose, help;
};

/* ERR_CONF: text for the user. */
err_t load_opts_parse(struct load_opts *o, enum load_tools tool, int argc, char **argv)
    __attribute__((warn_unused_result));
void load_opts_help(const struct load_opts *o, const char *program, const char *what);

/* The source address of a client: the range of `bind` in turn. "" without one. */
err_t load_opts_bind(const struct load_opts *o, unsigned index, char *out, size_t size)
    __attribute__((warn_unused_result));

/* Where in a recording a session is to begin, s; < 0: it was not said. At random, another one each
 * time, if that was asked for. */
double load_opts_place(const struct load_opts *o);

#endif
