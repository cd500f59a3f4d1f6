// Keeps the pages, their modules and styles, and the latest documents, so that a page opens without a server. It never
// keeps carts, orders or streams: the page of an order is kept without the order.

const ASSETS = "/a/-/";
const SHELL = `tiffin${ASSETS}`;
const PAGES = "tiffin-pages";
const MOST_PAGES = 20;
// A server that is slower than this is taken for away where there is something to show.
const LONGEST_WAIT = 4000;

addEventListener("install", (event) => event.waitUntil((async () => {
    await keepOpenPages().catch(() => {});
    await skipWaiting();
})()));

addEventListener("activate", (event) => event.waitUntil((async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== SHELL && name !== PAGES).map((name) => caches.delete(name)));
    await clients.claim();
})()));

addEventListener("fetch", (event) => {
    const { request } = event;
    const { origin, pathname } = new URL(request.url);
    if (request.method !== "GET" || origin !== location.origin) return;
    if (pathname.startsWith("/a/")) event.respondWith(asset(request, event));
    else if (request.mode === "navigate" && keyOf(pathname)) {
        event.respondWith(page(request, keyOf(pathname)));
    } else if (/^\/v1\/outlets\/[^/]+\/(home|items\/[^/]+)$/.test(pathname) && !request.url.includes("?")) {
        event.respondWith(page(request, pathname));
    }
});

// The name that the page at a path is kept under; null where none is. Orders share one, as they do not stand in it.
function keyOf(pathname) {
    if (pathname.startsWith("/order/")) return "/order";
    return pathname.startsWith("/o/") || ["/discover", "/orders"].includes(pathname) ? pathname : null;
}

// The pages that were there before the worker, with all that they name.
async function keepOpenPages() {
    const [shell, pages] = [await caches.open(SHELL), await caches.open(PAGES)];
    for (const { url } of await clients.matchAll({ type: "window", includeUncontrolled: true })) {
        const key = keyOf(new URL(url).pathname);
        if (!key) continue;
        const answer = await fetch(url);
        if (!answer.ok) continue;
        const html = await answer.clone().text();
        const named = new Set(html.matchAll(/"(\/a\/[^"]+)"/g).map(([, path]) => path).filter((path) => path.startsWith(ASSETS)));
        await shell.addAll(named);
        await pages.put(key, answer);
    }
}

// What has a hash in its path never changes.
async function asset(request, event) {
    const kept = await caches.match(request);
    if (kept) return kept;
    const answer = await fetch(request);
    if (answer.ok && request.url.includes(ASSETS)) {
        const copy = answer.clone();
        event.waitUntil(caches.open(SHELL).then((cache) => cache.put(request, copy)));
    }
    return answer;
}

// The latest there is; without a server the one that was kept.
async function page(request, key) {
    const cache = await caches.open(PAGES);
    const kept = await cache.match(key);
    const fresh = fetch(request).then(async (answer) => {
        if (answer.ok) {
            await cache.delete(key);
            await cache.put(key, answer.clone());
            const keys = await cache.keys();
            await Promise.all(keys.slice(0, -MOST_PAGES).map((old) => cache.delete(old)));
        }
        return answer;
    });
    if (!kept) return fresh;
    const late = new Promise((_, reject) => setTimeout(reject, LONGEST_WAIT, new Error("too late")));
    return Promise.race([fresh, late]).catch(() => kept);
}
