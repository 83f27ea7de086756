// SPDX-License-Identifier: MIT
// whip.js - the page that publishes camera, screen or microphone over WHIP; its parameters name the stream.

import { capture, missing, offer } from "./capture.js";
import { $, el, text } from "./dom.js";
import { publish } from "./publish.js";
import { offersOfQuery, placeOf } from "./query.js";
import { Rtc, codecs, send } from "./rtc.js";
import { line, watch } from "./rtc_stats.js";
import { where } from "./where.js";

const CODECS = { h264: "H.264", h265: "H.265", av1: "AV1", vp9: "VP9", vp8: "VP8, for WebRTC only" };
const ALIAS = { hevc: "h265", avc: "h264" };

const params = new URLSearchParams(location.search), form = $("what"), video = $("video");
let session = null; // { rtc, media, unwatch } while publishing

function state(what, look = "dim") {
    $("state").className = look;
    text($("state"), what);
}

function stop(why = "") {
    const { rtc, media, unwatch } = session ?? {};
    session = null;
    unwatch?.();
    rtc?.close();
    media?.getTracks().forEach(t => t.stop());
    video.srcObject = null;
    $("stats").hidden = $("players").hidden = true;
    text($("facts"), "");
    text($("go"), "● Publish");
    $("go").className = "go";
    for (const e of form.querySelectorAll("select, input"))
        e.disabled = false;
    state(why, why ? "bad" : "dim");
}

function wishes() {
    const [width, height] = form.size.value.split("×").map(Number);
    return { from: form.source.value, camera: form.camera.value, microphone: form.microphone.value, width, height, fps: Number(form.fps.value) };
}

// Links to the page that plays this stream.
function link(url) {
    const to = new URL("whep.html", location.href), whep = new URL(url);
    whep.pathname = whep.pathname.replace(/whip\/?$/, "whep/");
    to.search = new URLSearchParams({ url: whep.href, autostart: "true" });
    $("watch").href = to.href;
    $("players").hidden = !/whep\/$/.test(whep.pathname);
}

function told(found) {
    const { connectionState } = session.rtc.pc;
    text($("facts"), line(found));
    $("stats").hidden = false;
    if (connectionState === "connected")
        state("live", "good");
}

async function start() {
    const mine = session = { rtc: null, media: null };
    const is = () => session === mine;
    const fail = why => is() && stop(why);
    text($("go"), "■ Stop");
    $("go").className = "sure";
    for (const e of form.querySelectorAll("select, input"))
        e.disabled = true;
    try {
        const url = placeOf("whip", $("address").value);
        state("waiting for permission …");
        mine.media = await capture(wishes());
        if (!is())
            return mine.media.getTracks().forEach(t => t.stop());
        for (const track of mine.media.getTracks())
            track.addEventListener("ended", () => fail(`the ${track.kind} track ended: ${track.label}`));
        video.srcObject = mine.media;
        state("connecting …");
        mine.rtc = new Rtc(url, fail);
        mine.unwatch = watch(mine.rtc, found => is() && told(found), $("stats"));
        void devices();
        await send(mine.rtc, mine.media, form.codec.value, Number(form.kbps.value));
        if (is())
            link(url);
    } catch (e) {
        fail(e.message);
    }
}

async function devices() {
    await offer(form.camera, $("cameras"), "videoinput");
    await offer(form.microphone, $("microphones"), "audioinput");
}

function choices() {
    const can = codecs(), asked = (params.get("vcodec") || params.get("codec") || "").toLowerCase();
    for (const [name, label] of Object.entries(CODECS))
        if (can.has(name))
            form.codec.append(el("option", { value: name }, label));
    form.codec.value = ALIAS[asked] ?? asked;
    if (form.codec.selectedIndex < 0)
        form.codec.value = "";
    if (!navigator.mediaDevices?.getDisplayMedia)
        for (const e of form.source.querySelectorAll("[value=screen], [value=both]"))
            e.remove();
}

async function begin() {
    const told = await where(), url = offersOfQuery(params, "whip"), ours = new URL(url).origin === location.origin;
    const name = key => new URL(url).searchParams.get(key);
    publish($("publish"), told, name("app"), name("stream"));
    $("address").value = url;
    const why = ours && told?.rtc === false ? "WebRTC is off on this server: see rtc_server in its configuration. Publish with a program:" : missing();
    text($("note"), why);
    $("note").hidden = !why;
    $("main").hidden = Boolean(why);
    if (why)
        return;
    choices();
    if (params.get("autostart") === "true")
        void start();
}

const begun = begin().catch(e => state(e.message, "bad"));
form.addEventListener("submit", async e => {
    e.preventDefault();
    await begun;
    session ? stop() : void start();
});
