/**
 * The target of a file: a place that the person chooses, where the browser can ask; otherwise the
 * downloads.
 */
import type { Sink } from '../../state/exports.ts';

interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}
const hasPicker = (from: unknown): from is SavePicker =>
  typeof from === 'object' &&
  from !== null &&
  'showSaveFilePicker' in from &&
  typeof from.showSaveFilePicker === 'function';

/**
 * Bytes that are collected before they are joined into one blob, which a browser may keep on disk:
 * 8 MB.
 */
const FOLD_AT = 8 * 1024 * 1024;
/** ms after which the URL of a download is revoked. The browser has opened it long before. */
const RELEASE_AFTER = 60_000;

/** Passes a file to the browser as a download. */
export function download(fileName: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), RELEASE_AFTER);
}

/** Collects a file, and passes it to the browser as a download when it is complete. */
function downloadStream(fileName: string): WritableStream<Uint8Array> {
  let parts: (Blob | Uint8Array<ArrayBuffer>)[] = [];
  let loose = 0;
  return new WritableStream({
    write(chunk) {
      parts.push(Uint8Array.from(chunk));
      loose += chunk.length;
      if (loose < FOLD_AT) return;
      parts = [new Blob(parts)];
      loose = 0;
    },
    close() {
      download(fileName, new Blob(parts));
      parts = [];
    },
  });
}

/**
 * Asks for a place for the file. null: the person cancelled. Must be called right after a press.
 */
export async function chooseSink(suggestedName: string): Promise<Sink | null> {
  if (!hasPicker(window)) return { stream: downloadStream(suggestedName), fileName: suggestedName };
  try {
    const handle = await window.showSaveFilePicker({ suggestedName });
    return { stream: await handle.createWritable(), fileName: handle.name };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    // Asking is not allowed here (a frame, a policy). A download still is.
    if (error instanceof DOMException && error.name === 'SecurityError')
      return { stream: downloadStream(suggestedName), fileName: suggestedName };
    throw error;
  }
}
