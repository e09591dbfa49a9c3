/** The path of a Chromium, or null where there is none. Throws where `CHROME_PATH` names no file. */
export function findChromium(): string | null;
