// The console: pages for operators and auditors.

import { showPages } from "../shared/fragments.js";

const list = (name) => () => import("./lists.js").then((lists) => ({ show: lists[name] }));

showPages(
    {
        log: () => import("./log.js"),
        stream: () => import("./history.js"),
        travel: () => import("./travel.js"),
        proof: () => import("./proof.js"),
        health: () => import("./health.js"),
        ...Object.fromEntries(
            ["streams", "projections", "slowlog", "latency", "clients", "relays"].map((name) => [name, list(name)])),
        users: () => import("./users.js"),
    }, "log", "/login");
