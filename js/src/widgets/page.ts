// The script of a self-contained page.
import { start } from "./start";

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
