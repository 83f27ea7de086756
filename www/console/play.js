// SPDX-License-Identifier: MIT
// play.js - a player that is told by the parameters of its address what to play.

import { $, text } from "./dom.js";
import { Media } from "./media.js";
import { publish } from "./publish.js";
import { ofAddress, ofQuery } from "./query.js";
import { Seek } from "./seek.js";

const params = new URLSearchParams(location.search), page = location.pathname.split("/").pop();
const PLAYS = "It plays here by HTTP-FLV, HLS or DASH instead.", PUBLISH = "Publish with OBS or ffmpeg:";

// Pages of others that do what we do otherwise.
const NOTES = {
    "rtc_player.html": `This server does not speak WebRTC. ${PLAYS}`,
    "whep.html": `This server does not speak WebRTC. ${PLAYS}`,
    "rtc_publisher.html": `This server does not speak WebRTC, so a page cannot publish. ${PUBLISH}`,
    "whip.html": `This server does not speak WebRTC, so a page cannot publish. ${PUBLISH}`,
    "srs_publisher.html": `No browser has Flash any more, so a page cannot publish. ${PUBLISH}`,
    "srs_chat.html": `No browser has Flash any more, so a page cannot publish. ${PUBLISH}`,
    "srs_gb28181.html": "This server does not speak GB28181.",
    "srs_bwt.html": "To measure what a server gives to many players: objs/sb_rtmp_load and objs/sb_http_load.",
};

const video = $("video");
const media = new Media(video, failed);
new Seek(media);
let left = []; // ways that were not tried yet

function state(what, bad = false) {
    $("state").className = bad ? "bad" : "dim";
    text($("state"), what);
}

function failed(why) {
    if (left.length && !video.videoWidth)
        void next();
    else
        state(why, true);
}

async function next() {
    const [kind, , url] = left.shift();
    $("address").value = url;
    state(`${Media.kinds[kind]}: waiting for the first picture …`);
    await media.play(kind, url).catch(e => failed(e.message));
}

function note(what) {
    text($("note"), what);
    $("note").hidden = !what;
}

const foreign = what => what ? `No browser plays ${what}. ${PLAYS}` : NOTES[page] ?? "";

function tell() {
    const ahead = video.buffered.length ? video.buffered.end(video.buffered.length - 1) - video.currentTime : 0;
    const size = video.videoWidth ? `${video.videoWidth}×${video.videoHeight}, ` : "";
    text($("facts"), video.readyState >= 2 ? `${size}${ahead.toFixed(1)} s ahead` : "");
}

for (const event of ["playing", "resize", "timeupdate"])
    video.addEventListener(event, tell);
video.addEventListener("playing", () => { left = []; state("playing"); });
video.addEventListener("ended", () => $("state").className !== "bad" && state("the end"));
video.addEventListener("waiting", () => $("state").className !== "bad" && state("waiting for the stream …"));

$("what").addEventListener("submit", e => {
    e.preventDefault();
    try {
        const asked = ofAddress($("address").value);
        left = asked.ways;
        note(foreign(asked.foreign));
        void next();
    } catch (why) {
        state(why.message, true);
    }
});

async function port() {
    const where = await fetch(new URL("where.json", import.meta.url)).then(r => r.json()).catch(() => null);
    return where?.rtmp;
}

async function begin() {
    const asked = ofQuery(params);
    note(foreign(asked.foreign));
    $("address").value = asked.ways[0][2];
    if (NOTES[page]?.endsWith(PUBLISH)) {
        document.querySelector("main").hidden = true;
        $("publish").hidden = false;
        publish($("publish"), await port(), params.get("app") || "live", (params.get("stream") || "livestream").replace(/\.\w+$/, ""));
    } else if (params.get("autostart") === "true") {
        left = asked.ways;
        await next();
    }
}

begin().catch(e => state(e.message, true));
