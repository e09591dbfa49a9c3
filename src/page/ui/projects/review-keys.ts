/** The keys of a review. They win over the same keys of the rest of the page. */
import { type RefObject, useEffect, useRef } from 'react';
import { isField, keyOf } from '../design/keys.ts';

export interface ReviewKeys {
  readonly accept: () => void;
  readonly merge: () => void;
}

/** Where `j` and `k` stop: each file, and each change in an open file. */
const STOPS = '.file-diff > summary, .file-diff[open] [data-hunk]';

/** px above the top of the view from which on a stop is in view. */
const NEAR = 8;

function focusStop(stop: HTMLElement): void {
  const isFile = stop.tagName === 'SUMMARY';
  const target = isFile ? stop : (stop.querySelector<HTMLElement>('.patch-comment') ?? stop);
  target.focus({ preventScroll: true });
  stop.scrollIntoView?.({ block: isFile ? 'start' : 'center' });
}

function toStop(root: HTMLElement, step: 1 | -1): void {
  const stops = [...root.querySelectorAll<HTMLElement>(STOPS)];
  const focused = document.activeElement;
  const at = stops.findLastIndex(
    (stop) =>
      focused !== null &&
      (stop.contains(focused) || (stop.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0) &&
      root.querySelector('.review-diff')?.contains(focused) === true,
  );
  const top = (root.querySelector('.review-diff')?.getBoundingClientRect().top ?? 0) - NEAR;
  const isAbove = (stop: HTMLElement) => stop.getBoundingClientRect().top < top;
  const next = at >= 0 ? stops[at + step] : step > 0 ? stops.find((stop) => !isAbove(stop)) : stops.findLast(isAbove);
  if (next) focusStop(next);
}

/** Begins a comment: on the line under the pointer, on the focused one, or on a changed one. */
function comment(root: HTMLElement): void {
  const focused = document.activeElement;
  const from = focused && root.contains(focused) ? focused.closest('.patch-line, .file-diff') : null;
  const button =
    root.querySelector<HTMLElement>('.patch-line:hover .patch-comment') ??
    from?.querySelector<HTMLElement>(':is([data-kind=new], [data-kind=gone]) .patch-comment') ??
    from?.querySelector<HTMLElement>('.patch-comment') ??
    root.querySelector<HTMLElement>(':is([data-kind=new], [data-kind=gone]) .patch-comment');
  button?.click();
}

/** `root`: the review. While a dialog is open, or something is typed, the keys do nothing. */
export function useReviewKeys(root: RefObject<HTMLElement | null>, keys: ReviewKeys): void {
  const lastKeys = useRef(keys);
  useEffect(() => {
    lastKeys.current = keys;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { ctrlKey, metaKey, altKey, shiftKey, target } = event;
      if (event.defaultPrevented || ctrlKey || metaKey || altKey || shiftKey || isField(target)) return;
      if (!root.current || document.querySelector('dialog[open]')) return;
      switch (keyOf(event).toLowerCase()) {
        case 'j':
          toStop(root.current, 1);
          break;
        case 'k':
          toStop(root.current, -1);
          break;
        case 'c':
          comment(root.current);
          break;
        case 'a':
          lastKeys.current.accept();
          break;
        case 'm':
          lastKeys.current.merge();
          break;
        default:
          return;
      }
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown, true);
    return () => document.removeEventListener('keydown', onKeyDown, true);
  }, [root]);
}
