import { afterEach, expect, test } from 'vitest';
import { followViewHeight } from '../../../../../src/page/ui/shell/window.ts';

const root = document.documentElement;
afterEach(() => root.removeAttribute('style'));

/** What a browser says of the part of the window that is to be seen. */
function viewOf(height: number, more: { offsetTop?: number; scale?: number } = {}) {
  const view = Object.assign(new EventTarget(), { height, offsetTop: 0, scale: 1, ...more });
  Object.defineProperty(window, 'visualViewport', { configurable: true, value: view });
  return view;
}

test('the page takes only what a keyboard on the screen leaves, and all of it when that goes', () => {
  Object.defineProperty(window, 'innerHeight', { configurable: true, value: 740 });
  root.style.fontSize = '16px';
  const view = viewOf(740);
  followViewHeight();
  expect(root.style.getPropertyValue('--view-height')).toBe('');
  Object.assign(view, { height: 420, offsetTop: 60 });
  view.dispatchEvent(new Event('resize'));
  expect(root.style.getPropertyValue('--view-height')).toBe('420px');
  expect(root.style.getPropertyValue('--view-top')).toBe('60px');
  expect(root.dataset['low']).toBe('low');
  Object.assign(view, { height: 740, offsetTop: 0 });
  view.dispatchEvent(new Event('resize'));
  expect(root.style.getPropertyValue('--view-height')).toBe('');
  expect(root.dataset['low']).toBeUndefined();
});

test("keeps the page's height when somebody zooms by pinching", () => {
  Object.defineProperty(window, 'innerHeight', { configurable: true, value: 740 });
  viewOf(370, { scale: 2 });
  followViewHeight();
  expect(root.style.getPropertyValue('--view-height')).toBe('');
});
