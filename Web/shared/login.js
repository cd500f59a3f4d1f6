// Where users have to log in: whoever is told so goes to the login page, and from there back.

import { onStranger } from "./api.js";

onStranger(() => {
    const here = location.pathname + location.search + location.hash;
    location.replace(`/login?to=${encodeURIComponent(here)}`);
});
