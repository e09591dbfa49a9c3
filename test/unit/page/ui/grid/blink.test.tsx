import { act, cleanup, render } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Face } from '../../../../../src/page/ui/grid/face.tsx';

let still = false;
beforeEach(() => {
  still = false;
  window.matchMedia = (query) =>
    Object.assign(new EventTarget(), {
      matches: still,
      media: query,
      onchange: null,
      addListener: () => undefined,
      removeListener: () => undefined,
    });
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const blinks = (awake: boolean) => {
  const { container } = render(<Face agentId="a" face="Lyra" color="#fff" awake={awake} />);
  let seen = 0;
  for (let ms = 0; ms < 216_000; ms += 100) {
    act(() => void vi.advanceTimersByTime(100));
    if (container.querySelector<SVGElement>('.face')?.dataset['blink'] === 'true') seen++;
  }
  return seen;
};

test('a face that is awake blinks now and then, by a timer; one that sleeps or may not move does not', () => {
  expect(blinks(true)).toBeGreaterThanOrEqual(3);
  expect(blinks(true)).toBeLessThanOrEqual(8);
  expect(blinks(false)).toBe(0);
  still = true;
  expect(blinks(true)).toBe(0);
});

test('animates no invisible face, and shows its eyes open when it returns', () => {
  const hidden = vi.spyOn(document, 'hidden', 'get');
  const turn = (away: boolean) => {
    hidden.mockReturnValue(away);
    act(() => void document.dispatchEvent(new Event('visibilitychange')));
  };
  turn(false);
  const { container } = render(<Face agentId="a" face="Lyra" color="#fff" awake />);
  const shut = () => container.querySelector<SVGElement>('.face')?.dataset['blink'] === 'true';
  for (let ms = 0; ms < 144_000 && !shut(); ms += 100) act(() => void vi.advanceTimersByTime(100));
  expect(shut()).toBe(true);
  turn(true);
  expect([shut(), vi.getTimerCount()]).toEqual([false, 0]);
  turn(false);
  expect(vi.getTimerCount()).toBe(1);
  hidden.mockRestore();
});
