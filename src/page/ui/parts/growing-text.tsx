/**
 * A text that grows at its end while somebody may have marked a part of it. React would set it anew
 * as a whole, which takes the mark away; here only what is new is added.
 */
import { useLayoutEffect, useRef } from 'react';

function sharedLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  if (a.slice(0, most) === b.slice(0, most)) return most;
  let at = 0;
  while (a[at] === b[at]) at += 1;
  return at;
}

function setTextOf(element: HTMLElement, text: string): void {
  const node = element.firstChild;
  // A browser that translates has put it elsewhere.
  if (!(node instanceof Text) || node.nextSibling) {
    element.textContent = text;
    return;
  }
  const shared = sharedLength(node.data, text);
  if (shared < node.length) node.deleteData(shared, node.length - shared);
  if (shared < text.length) node.appendData(text.slice(shared));
}

export function GrowingText({ text }: { text: string }) {
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (ref.current) setTextOf(ref.current, text);
  }, [text]);
  return <span ref={ref} />;
}
