/**
 * A default name for this device, from its browser's user agent: "Firefox on Linux". The person can
 * change it.
 */

const BROWSERS = [
  ['Edge', /\bEdg(A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /(Chrome|\bCriOS)\//],
  ['Safari', /\bSafari\//],
] as const;
const SYSTEMS = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Mac', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const;

const firstMatch = (table: readonly (readonly [string, RegExp])[], userAgent: string) =>
  table.find(([, pattern]) => pattern.test(userAgent))?.[0];

export function guessDeviceName(userAgent: string): string {
  const browser = firstMatch(BROWSERS, userAgent) ?? 'Browser';
  const system = firstMatch(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}
