// SPDX-License-Identifier: MIT
// console.js - polls the API every two seconds and shows streams and clients.

import { Api, Closed, NeedLogin } from "./api.js";
import { $, text } from "./dom.js";
import { many, time } from "./format.js";
import { History } from "./history.js";
import { Log } from "./log.js";
import { Player } from "./player.js";
import { children, forwards } from "./programs.js";
import { problems } from "./problems.js";
import { Send } from "./send.js";
import { Streams } from "./streams.js";
import { Totals } from "./totals.js";
import { health, healthProblems } from "./health.js";
import { Vhosts } from "./vhosts.js";
import { workers } from "./workers.js";

const PERIOD = 2000, PATIENCE = 10000; // milliseconds between requests; after a failure

const api = new Api(new URLSearchParams(location.search).get("api")), player = new Player(api);
const streams = new Streams(api, player, () => tick()), totals = new Totals(), log = new Log(api), history = new History(api), send = new Send(), vhosts = new Vhosts();
let timer = null, asking = false, again = false;

// Lists that an older server does not have.
async function healthLists() {
    const names = ["pulls", "recordings", "certificates", "disks"];
    const got = await Promise.all(names.map(name => api.maybe(name)));
    return Object.fromEntries(names.map((name, i) => [name, got[i]?.[name] ?? null]));
}

async function show() {
    const list = await api.maybe("workers"); // answers even while a blocked worker delays the other lists
    workers(list?.workers ?? []);
    const [summary, hosts, listed, ways, jobs, sent, worst, kept] = await Promise.all([
        api.get("summaries"), api.get("vhosts/"), api.get(streams.query),
        api.maybe("console"), api.maybe("children"), api.maybe("forwards"), api.maybe("clients/?sort=-stall&count=1"), healthLists(),
    ]);
    const now = performance.now(), self = summary.data.self, all = streams.wanted === "" && listed.streams.length === listed.total;
    await streams.show(listed, hosts.vhosts, ways?.data, now);
    totals.show(summary.data, hosts.vhosts, list?.workers ?? [], all ? listed.streams : null, streams.rates);
    forwards(sent?.forwards ?? [], now);
    children(jobs?.children ?? []);
    health(kept);
    vhosts.show(hosts.vhosts, ways?.data);
    problems({ streams: listed.streams, worst, forwards: sent?.forwards ?? [], children: jobs?.children ?? [], more: healthProblems(kept) });
    void log.show();
    void history.show();
    $("empty").hidden = !all || listed.streams.some(s => s.publish.active || s.vod);
    send.show(ways?.data, all && listed.streams.length === 0);
    const state = $("state");
    state.className = "";
    text(state, `version ${self.version}, up ${time(self.srs_uptime)}, process ${self.pid}`);
    document.title = `${many(listed.total ?? listed.streams.length, "stream")} – Sluice console`;
}

function ask(why, needLogin) {
    const form = $("ask");
    text($("why"), why);
    form.querySelector(".where").hidden = needLogin;
    if (form.hidden) {
        form.hidden = false;
        (needLogin ? form.user : form.api).focus();
    }
}

function wanted(wrong) {
    const who = api.elsewhere ? `${api.base}, which is not the server of this page,` : "This server";
    return `${wrong ? "Wrong user or password. " : ""}${who} requires user and password, or a token without a user.` +
        (api.elsewhere ? " It receives what you type here." : "");
}

async function tick() {
    if (asking) { // the request has changed in the meantime
        again = true;
        return;
    }
    asking = true;
    again = false;
    clearTimeout(timer);
    let next = PERIOD;
    try {
        await show();
        $("ask").hidden = true;
        const main = document.querySelector("main");
        main.hidden = false;
        main.className = "";
    } catch (e) {
        const state = $("state");
        const closed = e instanceof Closed;
        state.className = e instanceof NeedLogin ? "" : "bad";
        document.querySelector("main").className = "old"; // its values are out of date
        text(state, e instanceof NeedLogin ? "the server requires a login" :
            closed ? e.message : `no answer from the server: ${e.message}`);
        if (e instanceof NeedLogin)
            ask(wanted(e.wrong), true);
        else if (api.base === null)
            ask("What is the address of this server's API?", false);
        next = e instanceof NeedLogin || closed ? PATIENCE * 6 : PATIENCE / 2;
    }
    asking = false;
    if (!document.hidden)
        timer = setTimeout(tick, again ? 0 : next);
}

// A link can lead to a foreign API, so sending it a password needs a second press.
function isSure(button) {
    if (!api.elsewhere || button.dataset.to === api.base)
        return true;
    button.dataset.to = api.base;
    text(button, `Send them to ${new URL(api.base).host}?`);
    return false;
}

$("ask").addEventListener("submit", e => {
    const form = e.target;
    e.preventDefault();
    if (form.api.value) {
        api.given = form.api.value;
        api.base = null;
        form.api.value = "";
    } else if (api.base !== null && (form.user.value || form.password.value)) {
        if (!isSure(form.querySelector("button")))
            return;
        api.login(form.user.value, form.password.value);
    }
    tick();
});
document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : tick());
tick();
