// The merchant's pages.

import { showPages } from "../shared/fragments.js";

showPages(
    {
        outlets: () => import("./outlets.js"),
        menu: () => import("./menu.js"),
        prices: () => import("./prices.js"),
        import: () => import("./import.js"),
        promotions: () => import("./promotions.js"),
        stock: () => import("./stock.js"),
        hours: () => import("./hours.js"),
        orders: () => import("./orders.js"),
        order: () => import("./order.js"),
        day: () => import("./day.js"),
    }, "outlets", "/login?to=/merchant");
