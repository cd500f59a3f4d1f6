import { applyPatch } from "./patch.js";

/// The state of one topic: a document, and the revision that it is of.
export class Topic {
    document;
    revision;

    constructor(document = null, revision = undefined) {
        this.document = document;
        this.revision = revision;
    }

    /// Takes a message: `{"from","to","patch"}`. Answers "changed", "same" if it says nothing new, or "again" if the
    /// document has to be read again, because changes are missing in between or the patch does not fit.
    take(message) {
        if (!Array.isArray(message.patch)) return "again";
        const isWhole = message.patch.length === 1 && message.patch[0].path === "" && message.patch[0].op === "replace";
        // A whole document counts whatever the revisions are: it also says what they do not cover, such as a line's
        // problem, and the log can have become shorter.
        if (!isWhole) {
            if (this.revision === undefined) return "again";
            if (message.to <= this.revision) return "same";
            if (message.from !== this.revision) return "again";
        }
        try {
            this.document = applyPatch(this.document, message.patch);
        } catch {
            return "again";
        }
        this.revision = message.to;
        return "changed";
    }
}
