// SPDX-License-Identifier: MIT
// play.js - the player page: the parameters of its address say what to play.

import { Api } from "./api.js";
import { $, text } from "./dom.js";
import { Media } from "./media.js";
import { explain } from "./onair.js";
import { publish } from "./publish.js";
import { offersOfQuery, ofAddress, ofQuery } from "./query.js";
import { Seek } from "./seek.js";
import { where } from "./where.js";

const params = new URLSearchParams(location.search), page = location.pathname.split("/").pop();
const PLAYS = "It plays here over MP4, HLS or DASH instead.", PUBLISH = "Publish with OBS or ffmpeg:";
const RTC = new Set(["rtc_player.html", "whep.html"]); // pages that play over WebRTC

// Pages of other servers whose job is done differently here.
const NOTES = {
    "srs_publisher.html": `Browsers no longer support Flash. To publish from a page use WebRTC: whip.html. ${PUBLISH}`,
    "srs_chat.html": `Browsers no longer support Flash. To publish from a page use WebRTC: whip.html. ${PUBLISH}`,
    "srs_gb28181.html": "This server does not support GB28181.",
    "srs_bwt.html": "To measure a server with many players use objs/sb_rtmp_load, objs/sb_http_load, objs/sb_rtc_load.",
};

const video = $("video"), api = new Api();
const media = new Media(video, failed, (kind, url) => explain(api, kind, url));
media.box = $("stats");
media.say = words => state(words || "playing");
media.told = found => { // browsers report "playing" for WebRTC before data has arrived
    const v = found?.video, a = found?.audio;
    $("stats").hidden = !v?.kbps && !a?.kbps;
    if (video.paused || !(v?.frames || a?.kbps))
        return;
    left = [];
    state(!v?.frames || v.moves ? "playing" : "waiting for the stream …");
};
new Seek(media);
let left = [], kind = ""; // addresses not tried yet; kind of playback

function state(what, bad = false) {
    $("state").className = bad ? "bad" : "dim";
    text($("state"), what);
}

function failed(why, waits = false) {
    if (waits || !left.length || video.videoWidth)
        return state(why, true);
    if (kind === "rtc")
        note(`WebRTC failed: ${why}. ${PLAYS}`);
    void next();
}

async function next() {
    let url;
    [kind, , url] = left.shift();
    $("address").value = url;
    state(`${Media.kinds[kind]}: waiting for the first frame …`);
    await media.play(kind, url).catch(e => failed(e.message));
}

function note(what) {
    text($("note"), what);
    $("note").hidden = !what;
}

const foreign = what => what ? `Browsers do not play ${what}. ${PLAYS}` : NOTES[page] ?? "";

function tell() {
    $("unmute").hidden = !video.muted || video.paused || !(video.readyState >= 2);
    if (kind === "rtc")
        return text($("facts"), "");
    const ahead = video.buffered.length ? video.buffered.end(video.buffered.length - 1) - video.currentTime : 0;
    const size = video.videoWidth ? `${video.videoWidth}×${video.videoHeight}, ` : "";
    text($("facts"), video.readyState >= 2 ? `${size}${ahead.toFixed(1)} s buffered` : "");
}

for (const event of ["playing", "resize", "timeupdate", "volumechange", "pause", "emptied"])
    video.addEventListener(event, tell);
$("unmute").addEventListener("click", () => { video.muted = false; });
video.addEventListener("playing", () => {
    if (kind === "rtc")
        return;
    left = [];
    state("playing");
});
video.addEventListener("ended", () => $("state").className !== "bad" && state("end of the file"));
video.addEventListener("waiting", () => $("state").className !== "bad" && state("waiting for the stream …"));

// Pages for WebRTC try it first. where.json says whether this server has it enabled.
async function wanted() {
    const asked = ofQuery(params);
    note(foreign(asked.foreign));
    if (!RTC.has(page) || params.get("url"))
        return asked.ways;
    const rtc = ["rtc", "rtc", offersOfQuery(params, "whep")];
    if (new URL(rtc[2]).origin === location.origin && (await where())?.rtc === false) {
        note(`WebRTC is off on this server: see rtc_server in its configuration. ${PLAYS}`);
        return asked.ways;
    }
    return [rtc, ...asked.ways.filter(way => way[0] !== "rtc")];
}

async function begin() {
    const ways = await wanted();
    $("address").value = ways[0][2];
    if (NOTES[page]?.endsWith(PUBLISH)) {
        document.querySelector("main").hidden = true;
        $("publish").hidden = false;
        publish($("publish"), await where(), params.get("app") || "live", (params.get("stream") || "livestream").replace(/\.\w+$/, ""));
    } else if (params.get("autostart") === "true") {
        left = ways;
        void next();
    }
}

const begun = begin().catch(e => state(e.message, true));
$("what").addEventListener("submit", async e => {
    e.preventDefault();
    await begun;
    try {
        const asked = ofAddress($("address").value);
        left = asked.ways;
        note(foreign(asked.foreign));
        void next();
    } catch (why) {
        state(why.message, true);
    }
});
