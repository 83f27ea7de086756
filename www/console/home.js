// SPDX-License-Identifier: MIT
// home.js - the page of the server: does it run, what is on, where to publish to.

import { Api, Closed, NeedLogin } from "./api.js";
import { $, el, sync, text } from "./dom.js";
import { many, time } from "./format.js";
import { Player } from "./player.js";
import { publish } from "./publish.js";
import { DEFAULT, playable } from "./ways.js";

const PERIOD = 3000, PATIENCE = 15000; // milliseconds between questions; where they are not answered
const STREAMS = 50;                    // shown at most

const api = new Api(), player = new Player(api);
let timer = null;

function state(what, bad = false) {
    $("state").className = bad ? "bad" : "good";
    text($("state"), what);
}

function quiet(...what) {
    $("quiet").hidden = what.length === 0;
    if ($("quiet").textContent !== what.map(w => w.textContent ?? w).join(""))
        $("quiet").replaceChildren(...what);
}

function row(s) {
    const play = el("button", { class: "go", onclick: () => player.play(play.ways, s.title) }, "▶ Play");
    const rtc = el("button", { title: "Play it here with little delay", onclick: () => player.play(play.ways.filter(isRtc), s.title) }, "▶ WebRTC");
    return el("div", { class: "row" }, el("div", { class: "what" }, el("span"), el("small")), el("span", { class: "act" }, play, rtc));
}

const isRtc = ([kind]) => kind === "rtc";

function codecs({ video, audio }) {
    const size = video?.width ? ` ${video.width}×${video.height}` : "";
    return [video && video.codec + size, audio?.codec].filter(Boolean).join(", ");
}

async function streams() {
    const [summary, listed, vhosts, ways] = await Promise.all([
        api.get("summaries"), api.get(`streams/?count=${STREAMS}&sort=name`), api.get("vhosts/"), api.maybe("console")]);
    const names = new Map(vhosts.vhosts.map(v => [v.id, v.name]));
    const list = listed.streams.filter(s => s.publish.active).map(s => {
        const vhost = names.get(s.vhost) ?? DEFAULT;
        return { ...s, ways: playable(ways?.data, vhost, s), title: (vhost === DEFAULT ? "" : `${vhost} `) + `${s.app}/${s.name}` };
    });
    sync($("streams"), list, s => s.id, row, (e, s) => {
        const [what, { children: [play, rtc] }] = e.children, players = Math.max(0, s.clients - 1);
        text(what.firstChild, s.title);
        text(what.lastChild, [codecs(s), many(players, "player"), s.age_ms === undefined ? "" : `for ${time(s.age_ms / 1000)}`]
            .filter(Boolean).join(", "));
        play.ways = s.ways;
        play.disabled = s.ways.length === 0;
        rtc.hidden = !s.ways.some(isRtc);
        play.title = s.ways.length ? "" : "WebRTC, HTTP-FLV, HLS and DASH are off in the configuration";
    });
    $("streams").hidden = list.length === 0;
    text($("count"), listed.streams.length < listed.total ? `${list.length} of ${listed.total}` : String(list.length));
    quiet(...list.length ? [] : ["No streams are on air. Streams published as described below appear here."]);
    state(`running, version ${summary.data.self.version}, for ${time(summary.data.self.srs_uptime)}`);
}

// Why it is not known what is on. The server itself runs: it has just answered.
function unknown(e) {
    const console = el("a", { href: "console/" }, "console");
    $("streams").hidden = true;
    text($("count"), "");
    state("running");
    if (e instanceof NeedLogin)
        quiet("The server tells what is on with a password: give it in the ", console, ".");
    else if (e instanceof Closed)
        quiet(`What is on is not shown: ${e.message}.`);
    else if (api.base === null)
        quiet(`What is on is not told here: ${e.message}.`);
    else
        quiet(`What is on is not told here: the API at ${new URL(api.base + "/", location.href).host} does not answer this browser (${e.message}).`);
}

async function tick() {
    clearTimeout(timer);
    api.where = null;
    let told = false;
    try {
        const found = await api.find().catch(e => e);
        if (!api.where)
            throw found;
        publish($("publish"), api.where);
        $("page").hidden = !api.where.rtc;
        if (found instanceof Error)
            unknown(found);
        else
            await streams().then(() => { told = true; }, unknown);
    } catch (e) {
        state(`no answer from the server: ${e.message}`, true);
    }
    if (!document.hidden)
        timer = setTimeout(tick, told || !api.where ? PERIOD : PATIENCE);
}

document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : tick());
tick();
