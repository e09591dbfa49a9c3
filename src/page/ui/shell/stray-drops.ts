/**
 * A file that is dropped where nobody takes it would be opened by the browser, in place of the
 * page.
 */
function leave(event: DragEvent): void {
  const { target, dataTransfer } = event;
  if (event.defaultPrevented || dataTransfer?.types.includes('Files') !== true) return;
  // This one takes files by itself.
  if (target instanceof HTMLInputElement && target.type === 'file') return;
  event.preventDefault();
  dataTransfer.dropEffect = 'none';
}

/** To be called once, until `signal` is aborted. */
export function leaveStrayDrops(signal: AbortSignal): void {
  addEventListener('dragover', leave, { signal });
  addEventListener('drop', leave, { signal });
}
