// The console: pages for operators and auditors.

import { showPages } from "../shared/fragments.js";

showPages(
    {
        log: () => import("./log.js"),
        stream: () => import("./history.js"),
        travel: () => import("./travel.js"),
        proof: () => import("./proof.js"),
        health: () => import("./health.js"),
        users: () => import("./users.js"),
    }, "log", "/login");
