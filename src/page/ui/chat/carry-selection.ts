/**
 * An answer that is done is drawn anew, as a message of one or several rows. What somebody has
 * marked in it stays marked: the mark is found again by how many characters stand before it.
 */
import { useLayoutEffect, type RefObject } from 'react';

const WORDS = '.msg-words';
/** Frames after which what is drawn anew stands there. */
const FRAMES = 3;

interface Marked {
  readonly key: string;
  /** Characters before it. */
  readonly from: number;
  readonly text: string;
}

/** What is marked within `words`; null: nothing, or not only that. */
function markedIn(words: Element): Marked | null {
  const key = words.closest<HTMLElement>('[data-key]')?.dataset['key'];
  const selection = document.getSelection();
  if (key === undefined || !selection || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!words.contains(range.commonAncestorContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(words);
  before.setEnd(range.startContainer, range.startOffset);
  return { key, from: before.toString().length, text: range.toString() };
}

function textsIn(key: string): readonly Text[] {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-key]')].filter(
    ({ dataset }) => dataset['key'] === key || dataset['key']?.startsWith(`${key}#`),
  );
  return rows.flatMap((row) => {
    const walker = document.createTreeWalker(
      row.querySelector(WORDS) ?? document.createElement('p'),
      NodeFilter.SHOW_TEXT,
    );
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    return texts;
  });
}

/** Marks it again where the same words stand there; leaves what somebody has marked meanwhile. */
function markAgain({ key, from, text }: Marked): void {
  const selection = document.getSelection();
  if (!selection || !selection.isCollapsed) return;
  const texts = textsIn(key);
  const all = texts.map(({ data }) => data).join('');
  const begin = all.startsWith(text, from) ? from : all.indexOf(text);
  if (begin < 0) return;
  /**
   * `isEnd`: what ends at the end of a text node ends there, and not at the beginning of the next.
   */
  const placeOf = (at: number, isEnd: boolean): readonly [Text, number] | null => {
    let left = at;
    for (const node of texts) {
      if (isEnd ? left <= node.length : left < node.length) return [node, left];
      left -= node.length;
    }
    return null;
  };
  const first = placeOf(begin, false);
  const last = placeOf(begin + text.length, true);
  if (first && last) selection.setBaseAndExtent(...first, ...last);
}

/** `inside`: an element in the answer's words. */
export function useCarriedSelection(inside: RefObject<HTMLElement | null>): void {
  useLayoutEffect(
    () => () => {
      // The elements stand in the page until this has run.
      const words = inside.current?.closest(WORDS);
      const marked = words ? markedIn(words) : null;
      if (!marked) return;
      let frames = FRAMES;
      const wait = () => {
        frames -= 1;
        if (frames > 0) requestAnimationFrame(wait);
        else markAgain(marked);
      };
      requestAnimationFrame(wait);
    },
    [inside],
  );
}
