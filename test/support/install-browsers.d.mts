/**
 * The path of a browser, or null where there is none. Throws where `CHROME_PATH` or `FIREFOX_PATH`
 * names no file.
 */
export function findChromium(): string | null;
export function findHeadlessShell(): string | null;
export function findFirefox(): string | null;
/** What drives WebKitGTK, its own small browser, and a screen for it. */
export function findWebKit(): { readonly driver: string; readonly browser: string; readonly screen: string } | null;
/** Whether all of them can be had here, so that a missing one is a fault. */
export function canInstallAll(): boolean;
