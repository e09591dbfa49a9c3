import { expect, it } from 'vitest';
import { forgetSentences } from './forgetting.ts';

/** ms: two browsers and a relay, on a machine that is busy with other tests. */
const TIMEOUT = 240_000;

it('an old device, an old relay and an old copy bring back no forgotten sentence', { timeout: TIMEOUT }, async () => {
  const { planted, places } = await forgetSentences({ sentences: 5 });
  expect(planted).toBe(5);
  expect(places).toBeGreaterThan(5);
});
