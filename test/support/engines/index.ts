/** The engines in which the story is lived, and why one of them cannot be had here. */
import { canInstallAll, findFirefox, findWebKit } from '../install-browsers.mjs';
import { launchChromium } from './chromium.ts';
import { MAKE_OLD } from './old.ts';
import { launchFirefox } from './firefox.ts';
import type { RealBrowser } from './tab.ts';
import { launchWebKit } from './webkit.ts';

export interface Engine {
  readonly name: string;
  /** Why the tests of it are not run; null where they are. */
  readonly missing: string | null;
  launch(): Promise<RealBrowser>;
}

/**
 * Where it could have been installed, that it is missing is a fault, which shows when it is
 * launched.
 */
const missing = (what: string) => (canInstallAll() ? null : `${what} is not here`);

/** Chromium without what the oldest browsers lack; its workers are made so by `makeOldBuild`. */
export const old: Engine = { name: 'a browser of the floor', missing: null, launch: () => launchChromium(MAKE_OLD) };

const firefoxPath = findFirefox();
export const firefox: Engine = {
  name: 'Firefox',
  missing: firefoxPath === null ? missing('Firefox') : null,
  launch() {
    if (firefoxPath === null) throw new Error('Firefox is missing, and Debian has it: npm run browser.');
    return launchFirefox(firefoxPath);
  },
};

const webkitPaths = findWebKit();
export const webkit: Engine = {
  name: 'WebKit',
  missing: webkitPaths === null ? missing('WebKitGTK (WebKitWebDriver, MiniBrowser, Xvfb)') : null,
  launch() {
    if (webkitPaths === null) throw new Error('WebKitGTK is missing, and Debian has it: npm run browser.');
    return launchWebKit(webkitPaths);
  },
};
