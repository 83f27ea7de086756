// SPDX-License-Identifier: MIT
// onair.js - explains why a stream does not play, from what the API reports: no publisher, or a codec that this browser cannot decode.

import { undecodable } from "./decodes.js";
import { noPublisher } from "./words.js";

const LISTED = 100; // streams that are searched for those on air

// { app, name, vhost } of the address being played; null if it names no live stream.
function streamOf(kind, url) {
    const u = new URL(url, location.href);
    if (kind === "file" || kind === "vod" || u.hostname !== location.hostname)
        return null;
    const path = u.pathname.split("/").filter(Boolean).map(decodeURIComponent);
    return {
        app: kind === "rtc" ? u.searchParams.get("app") : path.slice(0, -1).join("/"),
        name: kind === "rtc" ? u.searchParams.get("stream") : path.at(-1)?.replace(/\.\w+$/, ""),
        vhost: u.searchParams.get("vhost"),
    };
}

const title = s => `${s.app}/${s.name}`;

function is(s, { app, name, vhost }) {
    return s.app === app && s.name === name && (!vhost || s.url.startsWith("/") || s.url.startsWith(`${vhost}/`));
}

// { why, waits }: a sentence, and whether playback starts once the stream has a publisher; null if the API reports no reason or is closed.
export async function explain(api, kind, url) {
    const stream = streamOf(kind, url);
    if (!stream?.app || !stream.name)
        return null;
    const ask = query => api.get(`streams/?count=${LISTED}&sort=-clients${query}`).then(got => got.streams, () => null);
    const found = await ask(`&find=${encodeURIComponent(title(stream))}`);
    const one = found?.find(s => is(s, stream) && (s.publish.active || s.vod));
    if (!found || one) {
        const why = one && undecodable(kind, one);
        return why ? { why, waits: false } : null;
    }
    const all = await ask("");
    return { why: noPublisher(title(stream), all && all.filter(s => s.publish.active).map(title)), waits: true };
}
