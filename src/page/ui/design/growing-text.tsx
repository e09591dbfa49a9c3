/**
 * A text that grows at its end while the person may have selected a part of it. React would replace
 * the whole text, which clears the selection. This component only appends what is new.
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
  // A browser that translates the page has moved it.
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
