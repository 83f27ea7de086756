// SPDX-License-Identifier: MIT
// home.js - the server's first page: state, streams on air, addresses to publish to.

import { Api, Closed, NeedLogin } from "./api.js";
import { $, el, sync, text } from "./dom.js";
import { many, time } from "./format.js";
import { Player } from "./player.js";
import { publish } from "./publish.js";
import { DEFAULT, playable } from "./ways.js";

const PERIOD = 3000, PATIENCE = 15000; // milliseconds between requests; after a failure
const STREAMS = 50;                    // maximum shown

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
    const rtc = el("button", { title: "Play here with low latency", onclick: () => player.play(play.ways.filter(isRtc), s.title) }, "▶ WebRTC");
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

// Says why the streams are unknown. The server itself runs: it has just answered.
function unknown(e) {
    const console = el("a", { href: "console/" }, "console");
    $("streams").hidden = true;
    text($("count"), "");
    state("running");
    if (e instanceof NeedLogin)
        quiet("The list of streams requires a password: enter it in the ", console, ".");
    else if (e instanceof Closed)
        quiet(`The streams are not shown: ${e.message}.`);
    else if (api.base === null)
        quiet(`The streams are not shown here: ${e.message}.`);
    else
        quiet(`The streams are not shown here: the API at ${new URL(api.base + "/", location.href).host} does not answer this browser (${e.message}).`);
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
