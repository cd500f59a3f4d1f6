// For the check of the pages' modules: what browsers have and the checker does not know, and what it cannot know of
// elements that are found by their names.

interface Document {
    getElementById(id: string): any;
}
interface ParentNode {
    querySelector(selectors: string): any;
}
interface Array<T> {
    toSorted(compare?: (one: T, other: T) => number): T[];
}
interface MapConstructor {
    groupBy<T, K>(items: Iterable<T>, key: (item: T) => K): Map<K, T[]>;
}
declare const OffscreenCanvas: any;
declare namespace Intl {
    function supportedValuesOf(key: string): string[];
}
interface Element {
    checkVisibility(): boolean;
    hidden: boolean;
    hash: string;
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
