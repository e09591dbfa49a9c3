/** Behaviour of the whole window that nobody needs before the first paint. */
import { onCopy } from '../text/copied.ts';
import { keepFocus } from './kept-focus.ts';

/** The browser would open a file that is dropped outside of a drop zone in place of the page. */
function leave(event: DragEvent): void {
  const { target, dataTransfer } = event;
  if (event.defaultPrevented || dataTransfer?.types.includes('Files') !== true) return;
  // A file input accepts files by itself.
  if (target instanceof HTMLInputElement && target.type === 'file') return;
  event.preventDefault();
  dataTransfer.dropEffect = 'none';
}

function leaveStrayDrops(signal: AbortSignal): void {
  addEventListener('dragover', leave, { signal });
  addEventListener('drop', leave, { signal });
}

/** Call once. Works until `signal` is aborted. */
export function followWindow(signal: AbortSignal): void {
  leaveStrayDrops(signal);
  keepFocus(signal);
  document.addEventListener('copy', onCopy, { signal });
}
