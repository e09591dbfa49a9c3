/**
 * The arrow that means the same where a page runs from left to right: in one that runs the other
 * way the next thing stands to the left.
 */
export function arrowAlong(key: string, element: Element): string {
  if (getComputedStyle(element).direction !== 'rtl') return key;
  return key === 'ArrowRight' ? 'ArrowLeft' : key === 'ArrowLeft' ? 'ArrowRight' : key;
}
