/** Undo against an independent look at the folders: real git, a real disk. */
import { expect, it } from 'vitest';
import { undoAtRandom } from '../../../support/undo.ts';

it('brings back byte by byte what 30 random runs changed, and undoes that', async () => {
  const { restores } = await undoAtRandom(1, 30, 3);
  expect(restores).toBeGreaterThan(10);
});
