import { act, renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { useAction } from '../../../../../src/page/ui/design/use-action.ts';

/** Work that ends when the test says how. */
function openWork() {
  let end: (outcome: unknown) => void = () => undefined;
  let starts = 0;
  const work = () => {
    starts += 1;
    return new Promise((resolve) => (end = resolve));
  };
  return { work, starts: () => starts, end: (outcome?: unknown) => act(async () => end(outcome)) };
}

test('is busy during the work, and starts no other meanwhile', async () => {
  const { result } = renderHook(useAction);
  const [first, second] = [openWork(), openWork()];
  act(() => {
    result.current.act(first.work, 'Saving');
    result.current.act(second.work);
  });
  expect(result.current).toMatchObject({ busy: true, doing: 'Saving', failed: null });
  expect([first.starts(), second.starts()]).toEqual([1, 0]);
  await first.end();
  expect(result.current).toMatchObject({ busy: false, doing: null, failed: null });
  act(() => result.current.act(second.work));
  expect(second.starts()).toBe(1);
});

test.each([
  ['a sentence', 'No room.', 'No room.'],
  ['a refusal', { ok: false, reason: 'No room.' }, 'No room.'],
  ['success', { ok: true }, null],
  ['nothing', undefined, null],
])('shows why the work failed until the next press: %s', async (_what, outcome, failed) => {
  const { result } = renderHook(useAction);
  const work = openWork();
  act(() => result.current.act(work.work));
  await work.end(outcome);
  expect(result.current.failed).toBe(failed);
  act(() => result.current.act(work.work));
  expect(result.current.failed).toBeNull();
});
