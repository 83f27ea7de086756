// SPDX-License-Identifier: MIT
// stall.js - what a player waits for, in words.

import { many, time } from "./format.js";

const STALL = 3000;  // milliseconds, as the log has it
const BEHIND = 1500; // that are told

const WAITS = {
    WINDOW_FULL: "its network or the player itself takes less than the stream has",
    WAIT_KEY: "it waits for a key frame",
};

const stalls = c => c.state in WAITS && c.state_ms >= STALL;

// What has already happened to it.
function past(c) {
    return [c.lag_ms >= BEHIND ? `${(c.lag_ms / 1000).toFixed(1)} s behind` : "",
        c.dropped_packets ? `${many(c.dropped_packets, "packet")} left out` : "",
        c.window_full_ms >= STALL ? `held up for ${time(c.window_full_ms / 1000)} in all` : ""].filter(Boolean);
}

// { text, bad } of a client; `published`: is there a publisher at all?
export function flow(c, published = true) {
    if (c.publish || !c.state)
        return { text: "", bad: false };
    if (c.state === "PAUSED")
        return { text: "paused", bad: false };
    if (!stalls(c))
        return { text: ["plays", ...past(c)].join(", "), bad: false };
    const why = c.state === "WAIT_KEY" && !published ? "it waits for a publisher" : WAITS[c.state];
    return { text: [`stalls for ${time(c.state_ms / 1000)}: ${why}`, ...past(c)].join(", "), bad: true };
}
