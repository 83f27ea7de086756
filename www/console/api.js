// SPDX-License-Identifier: MIT
// api.js - where the API is, and how it is asked.

const LIMIT = 8000; // milliseconds that an answer may take

export class NeedLogin extends Error {}

export class Api {
    constructor() {
        this.base = null;
        this.auth = sessionStorage.getItem("auth");
        this.given = new URLSearchParams(location.search).get("api");
    }

    login(user, password) {
        const bytes = new TextEncoder().encode(`${user}:${password}`);
        this.auth = "Basic " + btoa(String.fromCharCode(...bytes));
        sessionStorage.setItem("auth", this.auth);
    }

    async fetch(url, how = {}) {
        const stop = new AbortController();
        const timer = setTimeout(() => stop.abort(), LIMIT);
        try {
            // "omit": we ask for the password ourselves, the browser need not.
            const answer = await fetch(url, {
                ...how, signal: stop.signal, credentials: "omit", cache: "no-store",
                headers: this.auth ? { Authorization: this.auth } : {},
            });
            if (answer.status === 401)
                throw new NeedLogin("user and password");
            if (!answer.ok)
                throw new Error(`${url} answers ${answer.status}`);
            return await answer.json();
        } finally {
            clearTimeout(timer);
        }
    }

    // The page may have come by the port of the API, or by that of files and streams.
    find() {
        this.finding ??= this.look().finally(() => this.finding = null);
        return this.finding;
    }

    async look() {
        if (this.given) {
            this.base = this.given.replace(/\/+$/, "");
            return;
        }
        const where = await this.fetch("where.json");
        const tls = location.protocol === "https:";
        const port = where.here_is_api ? null : tls ? where.api_tls : where.api;
        if (!where.here_is_api && !port)
            throw new Error(`the API is off${tls ? " for https" : ""}: see http_api in the configuration`);
        this.base = port ? `${location.protocol}//${location.hostname}:${port}` : "";
    }

    async get(path) {
        if (this.base === null)
            await this.find();
        const got = await this.fetch(`${this.base}/api/v1/${path}`);
        if (got.code !== 0)
            throw Object.assign(new Error(`${path}: code ${got.code}`), { code: got.code });
        return got;
    }

    // A list that an older server may not have: null.
    async maybe(path) {
        try {
            return await this.get(path);
        } catch (e) {
            if (e instanceof NeedLogin)
                throw e;
            return null;
        }
    }

    async kick(id) {
        await this.fetch(`${this.base}/api/v1/clients/${encodeURIComponent(id)}`, { method: "DELETE" });
    }
}
