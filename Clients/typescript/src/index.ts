/**
 * Tiffin over HTTP: a store to order from, and a console to sell at.
 *
 * Calls are sent again after what passes, errors are `TiffinError` with a code, and documents that are followed come
 * whole.
 */
export type { Call, Filter, Filters, Write } from "./connection.js";
export { Console } from "./console.js";
export * as documents from "./documents.js";
export { type Code, isRefusal, TiffinError } from "./errors.js";
export { Money } from "./money.js";
export { Store } from "./store.js";
export type { Following, Update } from "./stream.js";
