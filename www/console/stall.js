// SPDX-License-Identifier: MIT
// stall.js - describes why a player stalls.

import { many, time } from "./format.js";

const STALL = 3000;  // milliseconds, as in the log
const BEHIND = 1500; // milliseconds of lag that are shown

const WAITS = {
    WINDOW_FULL: "the network or the player is slower than the stream",
    WAIT_KEY: "waiting for a key frame",
};

const stalls = c => c.state in WAITS && c.state_ms >= STALL;

// Past problems of the player.
function past(c) {
    return [c.lag_ms >= BEHIND ? `${(c.lag_ms / 1000).toFixed(1)} s behind` : "",
        c.dropped_packets ? `${many(c.dropped_packets, "packet")} dropped` : "",
        c.window_full_ms >= STALL ? `blocked for ${time(c.window_full_ms / 1000)} in total` : ""].filter(Boolean);
}

// Returns { text, bad } for a client. `published`: whether the stream has a publisher.
export function flow(c, published = true) {
    if (c.publish || !c.state)
        return { text: "", bad: false };
    if (c.state === "PAUSED")
        return { text: "paused", bad: false };
    if (!stalls(c))
        return { text: ["plays", ...past(c)].join(", "), bad: false };
    const why = c.state === "WAIT_KEY" && !published ? "waiting for a publisher" : WAITS[c.state];
    return { text: [`stalls for ${time(c.state_ms / 1000)}: ${why}`, ...past(c)].join(", "), bad: true };
}
