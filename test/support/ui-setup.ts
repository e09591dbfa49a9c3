/**
 * What tests of the page's parts share: how long they wait, the layout that jsdom does not do, and
 * how each finds the window. Run for every file, in the same window (`one-window.ts`).
 */
import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { freshWindow } from './ui-window.ts';

/** A busy machine is not a failure. */
configure({ asyncUtilTimeout: 15_000 });

beforeEach(freshWindow);
afterEach(cleanup);
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** px: every row is so high, and the window so high that a list has all its rows in sight. */
const ROW = 20;
const WINDOW = 100_000;

const heightOf = (element: Element) => (element.getAttribute('role') === 'region' ? WINDOW : ROW);

/** Says once how large what it observes is; nothing changes its size here. */
class Sizes implements ResizeObserver {
  readonly #tell: ResizeObserverCallback;
  readonly #observed = new Set<Element>();

  constructor(tell: ResizeObserverCallback) {
    this.#tell = tell;
  }

  observe(target: Element) {
    this.#observed.add(target);
    queueMicrotask(() => {
      if (!this.#observed.has(target) || !target.isConnected) return;
      const contentRect = new DOMRect(0, 0, 800, heightOf(target));
      this.#tell([{ target, contentRect, borderBoxSize: [], contentBoxSize: [], devicePixelContentBoxSize: [] }], this);
    });
  }

  unobserve(target: Element) {
    this.#observed.delete(target);
  }

  disconnect() {
    this.#observed.clear();
  }
}
window.ResizeObserver = Sizes;

Object.defineProperty(HTMLElement.prototype, 'offsetParent', {
  get(this: HTMLElement) {
    return this.parentElement;
  },
});
HTMLElement.prototype.scrollTo = () => undefined;

/** jsdom counts, in what stands behind a document, every change below it. */
const inner = Object.getOwnPropertySymbols(document).find(({ description }) => description === 'impl');
const changes = () =>
  inner === undefined ? NaN : ((document as unknown as Record<symbol, { _version: number }>)[inner]?._version ?? NaN);

/** What a look for a role and a press ask of an element's style. */
interface Looks {
  readonly display: string;
  readonly visibility: string;
  readonly pointerEvents: string;
}
/** Attributes that decide on these in jsdom's own style sheet, and the element's own style. */
const DECIDING = ['hidden', 'open', 'popover', 'type', 'style'];

/**
 * Every look for a role asks for the style of each element and of all around it. jsdom tries all
 * its rules on each, which was a fifth of the time of these tests. Elements that are alike in what
 * decides have the same looks. Whatever else is asked is answered by jsdom, and so is everything
 * once a page has a style sheet of its own.
 */
function reckonOnce() {
  const reckon = window.getComputedStyle.bind(window);
  const ofAlike = new Map<string, Looks>();
  let ofElement = new WeakMap<Element, Looks>();
  let reckonedAt: number | undefined;
  const reckonLooks = (element: Element): Looks => {
    const { display, visibility, pointerEvents } = reckon(element);
    return { display, visibility, pointerEvents };
  };
  function looksOf(element: Element): Looks {
    const known = ofElement.get(element);
    if (known) return known;
    const around = element.parentElement ? looksOf(element.parentElement) : null;
    const own = DECIDING.map((name) => element.getAttribute(name));
    const alike = JSON.stringify([around?.visibility, around?.pointerEvents, element.localName, ...own]);
    const looks = ofAlike.get(alike) ?? reckonLooks(element);
    ofAlike.set(alike, looks);
    ofElement.set(element, looks);
    return looks;
  }
  window.getComputedStyle = (element, pseudo) => {
    if (pseudo || !element.isConnected || document.styleSheets.length > 0) return reckon(element, pseudo);
    const now = changes();
    if (now !== reckonedAt) ofElement = new WeakMap();
    reckonedAt = now;
    const looks = looksOf(element);
    const read = (name: string): unknown => (Object.hasOwn(looks, name) ? looks[name as keyof Looks] : null);
    return new Proxy({} as CSSStyleDeclaration, {
      get(_none, name) {
        if (name === 'getPropertyValue')
          return (asked: string) => read(asked) ?? reckon(element).getPropertyValue(asked);
        const value = typeof name === 'string' ? read(name) : null;
        return value ?? Reflect.get(reckon(element), name);
      },
    });
  };
}

/**
 * Finds all labels once after a change. In jsdom each element asks every label for its element, and
 * each label looks for that in the whole document: half of the time of a test with many fields.
 */
function labelOnce() {
  let labels = new Map<Element, HTMLLabelElement[]>();
  let labelledAt: number | undefined;
  const labelsOf = (element: Element) => {
    const now = changes();
    if (now !== labelledAt) {
      labels = new Map();
      for (const label of document.querySelectorAll('label'))
        if (label.control) labels.set(label.control, [...(labels.get(label.control) ?? []), label]);
    }
    labelledAt = now;
    return labels.get(element) ?? [];
  };
  const kinds = [
    ...[HTMLButtonElement, HTMLInputElement, HTMLMeterElement, HTMLOutputElement, HTMLProgressElement],
    ...[HTMLSelectElement, HTMLTextAreaElement],
  ];
  for (const { prototype } of kinds) {
    const look = Object.getOwnPropertyDescriptor(prototype, 'labels');
    Object.defineProperty(prototype, 'labels', {
      ...look,
      get(this: HTMLElement): unknown {
        const hasNone = this instanceof HTMLInputElement && this.type === 'hidden';
        return this.isConnected && !hasNone ? labelsOf(this) : look?.get?.call(this);
      },
    });
  }
}
const once = window as Window & { looksOnce?: true };
if (!once.looksOnce) {
  reckonOnce();
  labelOnce();
}
once.looksOnce = true;
