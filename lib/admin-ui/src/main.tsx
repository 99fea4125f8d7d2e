// Starts the page.
import { render } from "preact";
import { App } from "./app.js";
import { watchAddress } from "./state/route.js";
import { loadSession } from "./state/session.js";
import { applyTheme } from "./state/theme.js";

applyTheme();
watchAddress();
void loadSession();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
