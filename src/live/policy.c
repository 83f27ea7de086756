/* SPDX-License-Identifier: MIT */
/* policy.c - rules: how much a stream keeps, where a player starts, and where a late player
 * continues. */
#include "live/policy.h"

/* Without video every audio frame could be a start; one per AUDIO_KEY is, or one per audio_cache if
 * that is longer. */
#define AUDIO_KEY AV_MS(500)
/* A joining player has received the GOP after this time. */
#define CATCH_UP CO_SECONDS(1)

static int64_t audio_key(const struct live_settings *set)
{
    int64_t cache = set->audio_cache / 1000 * AV_MS(1);

    return cache > AUDIO_KEY ? cache : AUDIO_KEY;
}

bool live_policy_starts(struct live_kinds *seen, const struct av_packet *pkt, int64_t since_key,
                        const struct live_settings *set)
{
    if (pkt->config || pkt->extra)
        return false;
    if (pkt->kind == AV_VIDEO) {
        if (!seen->video)
            seen->key_track = pkt->track;
        seen->video = true;
        return pkt->key && pkt->track == seen->key_track;
    }
    if (pkt->kind == AV_AUDIO)
        seen->audio = true;
    else if (seen->audio)
        return false;
    return !seen->video && since_key >= audio_key(set);
}

uint64_t live_ages_young(const struct live_ages *a, co_usec now, co_usec queue_length)
{
    uint64_t young = 0;

    for (unsigned i = 0; i < LIVE_AGES; i++) {
        const struct live_age *m = &a->marks[i];

        if (m->seq > young && now - m->at > queue_length)
            young = m->seq;
    }
    return young;
}

/* A player that starts at the key frame needs the block of it and all later ones. */
bool live_policy_drops_block(const struct live_kept_block *b, const struct live_settings *set)
{
    if (b->bytes > set->max_bytes)
        return true;
    if (b->has_key && set->gop_cache)
        return false;
    return !b->in_use || b->age > set->queue_length;
}

bool live_policy_join(const struct live_span *span, bool cached, uint64_t *at)
{
    bool at_key = cached && span->have_key && span->key >= span->first;

    *at = at_key ? span->key : span->head;
    return at_key;
}

/* A player that joined at the previous key frame may not have reached the newest one yet, so the
 * packets between them stay for a moment. */
uint64_t live_policy_retains(const struct live_retained *log, const struct live_settings *set,
                             bool near)
{
    if (!set->gop_cache || !log->have_key || (near && log->key_age > LIVE_PREFETCH))
        return log->head;
    return log->played && log->key_before < log->key && log->key_age < CATCH_UP ? log->key_before
                                                                                : log->key;
}

enum live_position live_policy_late(const struct live_span *span, uint64_t at)
{
    if (at == span->first)
        return LIVE_GO_ON;
    return span->have_key && span->key >= at ? LIVE_AT_KEY : LIVE_WAIT;
}
