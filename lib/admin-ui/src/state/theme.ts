// Light, dark, or as the system has it; kept in this browser.
import { signal } from "./signal.js";
import { recall, remember } from "./memory.js";

export type Theme = "system" | "light" | "dark";
const stored = recall("theme");
export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");

export function applyTheme(value: Theme = theme.value): void {
  theme.value = value;
  document.documentElement.style.colorScheme = value === "system" ? "light dark" : value;
  remember("theme", value);
}
