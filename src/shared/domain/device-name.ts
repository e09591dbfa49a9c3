/**
 * A first name for this device, from what its browser says of itself: "Firefox on Linux". A person
 * changes it as they like.
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

const found = (table: readonly (readonly [string, RegExp])[], userAgent: string) =>
  table.find(([, pattern]) => pattern.test(userAgent))?.[0];

export function guessDeviceName(userAgent: string): string {
  const browser = found(BROWSERS, userAgent) ?? 'Browser';
  const system = found(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}
