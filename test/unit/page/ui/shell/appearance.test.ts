import { expect, test } from 'vitest';
import { decided } from '../../../../../src/page/ui/shell/appearance.ts';

test.each([
  ['(prefers-color-scheme: light)', 'not all', 'all'],
  ['(prefers-color-scheme: dark)', 'all', 'not all'],
  ['not (prefers-color-scheme: light)', 'all', 'not all'],
  ['not all and (prefers-color-scheme: light)', 'all', 'not all'],
] as const)('decides %s for dark and light', (query, dark, light) => {
  expect([decided(query, 'dark'), decided(query, 'light')]).toEqual([dark, light]);
});
