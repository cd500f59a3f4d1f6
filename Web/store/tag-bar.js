// The tag bar shows when less than `showBelow` points of the outlet's header are visible, and hides when more than
// `hideAbove` are. In between it stays as it is. Two marks that far above the header's lower edge say so: no handler
// runs while the page scrolls.

import { clone, prefersLessMotion, refs, setAttribute, setText } from "../shared/dom.js";
import { reconcile } from "../shared/reconcile.js";

// A mark below the window counts as seen, however far below.
const BELOW = "1000000px";
// A page that has not moved for so many milliseconds has stopped.
const REST = 100;
// How many pixels beside its place a section has reached it.
const NEAR = 2;

export class TagBar {
    #bar;
    #chips;
    #marks;
    #sections;
    #markObserver = null;
    #lineObserver = null;
    #isShowMarkGone = false;
    #isHideMarkSeen = true;
    #crossing = new Set();
    #current = null;
    // The section of the chip that was tapped, and how far the page was scrolled when it got there.
    #tapped = null;
    #place = null;
    #top = 0;

    /// `bar` is the element that shows and hides, `chips` its list, `sections` the element with the sections.
    constructor({ bar, chips, showMark, hideMark, sections }) {
        this.#bar = bar;
        this.#chips = chips;
        this.#marks = { showMark, hideMark };
        this.#sections = sections;
        chips.addEventListener("click", (event) => this.#tap(event));
        addEventListener("resize", () => this.#observe());
        addEventListener("scrollend", () => this.#rest());
        sections.addEventListener("sections-changed", () => this.#observeSections());
    }

    /// Takes the `tagBar` of a home.
    draw({ height, showBelow, hideAbove, chips }) {
        document.documentElement.style.setProperty("--bar", `${height / 16}rem`);
        this.#marks.showMark.style.insetBlockEnd = `${showBelow / 16}rem`;
        this.#marks.hideMark.style.insetBlockEnd = `${hideAbove / 16}rem`;
        reconcile(this.#chips, chips, {
            id: ({ section }) => section,
            make: () => clone("tag"),
            fill: (node, { id, section, title }) => {
                const { link } = refs(node);
                setAttribute(link, "href", `#s-${section}`);
                setAttribute(link, "data-testid", id);
                setAttribute(link, "data-section", section);
                setText(link, title);
            },
        });
        const top = document.querySelector(".top").getBoundingClientRect().height;
        if (!this.#markObserver || top !== this.#top) this.#observe();
        this.#drawCurrent();
    }

    #observe() {
        this.#top = document.querySelector(".top").getBoundingClientRect().height;
        this.#markObserver?.disconnect();
        this.#markObserver = new IntersectionObserver((entries) => this.#see(entries), {
            rootMargin: `-${this.#top}px 0px ${BELOW} 0px`,
            // A mark that only touches the edge is not gone, and not seen either.
            threshold: [0, 0.01],
        });
        this.#markObserver.observe(this.#marks.showMark);
        this.#markObserver.observe(this.#marks.hideMark);
        this.#observeSections();
    }

    #see(entries) {
        for (const { target, isIntersecting, intersectionRatio } of entries) {
            if (target === this.#marks.showMark) this.#isShowMarkGone = !isIntersecting;
            else this.#isHideMarkSeen = intersectionRatio > 0;
        }
        if (this.#isShowMarkGone) this.#bar.dataset.shown = "";
        else if (this.#isHideMarkSeen) this.#hide();
    }

    #hide() {
        if (this.#bar.contains(document.activeElement)) {
            this.#sections.querySelector(`#s-${CSS.escape(this.#current ?? "")} h2`)?.focus({ preventScroll: true });
        }
        delete this.#bar.dataset.shown;
    }

    // The section on a line of one pixel below the bar is the current one.
    #observeSections() {
        this.#lineObserver?.disconnect();
        this.#crossing.clear();
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        const bar = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--bar")) * rem;
        const line = Math.ceil(this.#top + bar) + 1;
        this.#lineObserver = new IntersectionObserver((entries) => {
            for (const { target, isIntersecting } of entries) {
                if (isIntersecting) this.#crossing.add(target);
                else this.#crossing.delete(target);
            }
            if (!this.#isHeld) this.#follow();
        }, { rootMargin: `-${line}px 0px -${Math.max(innerHeight - line - 1, 0)}px 0px` });
        for (const section of this.#sections.children) this.#lineObserver.observe(section);
    }

    #follow() {
        const section = [...this.#sections.children].find((child) => this.#crossing.has(child));
        if (!section || section.dataset.section === this.#current) return;
        this.#current = section.dataset.section;
        this.#drawCurrent();
    }

    #drawCurrent() {
        for (const link of this.#chips.querySelectorAll("a")) {
            const isCurrent = link.dataset.section === this.#current;
            if (isCurrent === link.hasAttribute("aria-current")) continue;
            setAttribute(link, "aria-current", isCurrent ? "true" : null);
            // Only the bar scrolls, never the page.
            if (isCurrent) {
                this.#bar.scrollTo({
                    left: link.offsetLeft - (this.#bar.clientWidth - link.offsetWidth) / 2,
                    behavior: prefersLessMotion() ? "instant" : "smooth",
                });
            }
        }
    }

    #tap(event) {
        const link = event.target.closest("a");
        const section = link && document.getElementById(link.hash.slice(1));
        if (!section) return;
        event.preventDefault();
        this.#current = link.dataset.section;
        this.#drawCurrent();
        history.replaceState(history.state, "", link.hash);
        section.scrollIntoView({ block: "start", behavior: prefersLessMotion() ? "instant" : "smooth" });
        section.querySelector("h2").focus({ preventScroll: true });
        this.#tapped = section;
        this.#place = null;
        // Where there is nothing to scroll, it is there.
        void this.#isHeld;
    }

    // Whether the tapped chip stays current: until its section is there, and then until somebody scrolls. A section near
    // the end of the page cannot reach the top.
    get #isHeld() {
        if (!this.#tapped) return false;
        if (this.#place === null && this.#isThere) this.#place = scrollY;
        if (this.#place === null || this.#place === scrollY) return true;
        this.#tapped = null;
        return false;
    }

    get #isThere() {
        const { scrollHeight } = document.documentElement;
        const edge = parseFloat(getComputedStyle(document.documentElement).scrollPaddingBlockStart);
        const way = this.#tapped.getBoundingClientRect().top - edge;
        return Math.abs(way) <= NEAR || (way > 0 ? scrollY + innerHeight >= scrollHeight - NEAR : scrollY <= 0);
    }

    // Something has ended that scrolled the page. It can be the way of an earlier tap, and the page on its way again;
    // or somebody has stopped it.
    #rest() {
        const [tapped, place] = [this.#tapped, scrollY];
        if (!tapped) return;
        if (!this.#isHeld) this.#follow();
        else if (this.#place === null) {
            setTimeout(() => {
                if (this.#tapped !== tapped || this.#place !== null || scrollY !== place) return;
                this.#tapped = null;
                this.#follow();
            }, REST);
        }
    }
}
