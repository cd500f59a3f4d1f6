// For the check of the pages' modules: what browsers have and the checker does not know, and what it cannot know of
// elements that are found by their names.

interface Document {
    getElementById(id: string): any;
}
interface ParentNode {
    querySelector(selectors: string): any;
}
interface Element {
    checkVisibility(): boolean;
    readonly dataset: DOMStringMap;
}
interface Navigator {
    readonly wakeLock?: { request(type: string): Promise<unknown> };
}
interface URLSearchParams {
    readonly size: number;
}
interface Uint8ArrayConstructor {
    from<T>(items: ArrayLike<T>, map: (item: T, place: number) => number): Uint8Array;
}
