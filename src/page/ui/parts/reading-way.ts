/**
 * Maps an arrow key to its left-to-right equivalent. In a right-to-left page, the next item is on
 * the left.
 */
export function arrowAlong(key: string, element: Element): string {
  if (getComputedStyle(element).direction !== 'rtl') return key;
  return key === 'ArrowRight' ? 'ArrowLeft' : key === 'ArrowLeft' ? 'ArrowRight' : key;
}
