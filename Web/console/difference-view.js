import { h, table } from "../shared/build.js";
import { differences } from "./events.js";

// A menu that came as a whole has thousands.
const MOST_ROWS = 200;

/// What has changed from one document to the next, as a table.
export function differenceView(before, after) {
    const found = differences(before, after);
    if (found.length === 0) return h("p", { class: "muted" }, "Nothing that is shown has changed.");
    const rows = found.slice(0, MOST_ROWS).map(({ path, before, after }) => h("tr", {},
        h("td", { class: "code" }, path),
        h("td", { class: "code gone" }, before === undefined ? "" : text(before)),
        h("td", { class: "code come" }, after === undefined ? "" : text(after))));
    const rest = found.length - rows.length;
    return h("div", {}, table("", ["where", "before", "after"], rows),
        rest > 0 ? h("p", { class: "muted" }, `and ${rest} more`) : null);
}

function text(value) {
    const json = JSON.stringify(value);
    return json.length > 300 ? `${json.slice(0, 300)}…` : json;
}
