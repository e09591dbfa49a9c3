/**
 * Replacements for features that the oldest supported browsers lack. The README names the minimum
 * versions: Safari 16.4, Firefox 128, Chromium 111. `BROWSERS` in `vite.config.ts` builds for them.
 * Newer features are used through this file, or not at all.
 *
 * Some features are detected where they are used instead: `showPopover` (Safari 17),
 * `showSaveFilePicker` (Safari, Firefox), `SharedWorker` (Chromium on Android), `createWritable` of
 * OPFS (Safari 26).
 */

/**
 * A stream's chunks. No version of Safari so far can iterate a stream. Leaving the loop early
 * cancels the stream.
 */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        isOver = true;
        return;
      }
      yield value;
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    if (!isOver) await reader.cancel();
  }
}

/** The parsed URL. Null: the text is not a URL. `URL.canParse` came with Safari 17. */
export function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * Parts of `StorageManager` that may be missing: all of it in insecure contexts, each of them
 * before Safari 17.
 */
export type MaybeStorage = Partial<Pick<StorageManager, 'persisted' | 'estimate'>> | undefined;

/**
 * Whether storage is persistent, how much is used, and the quota. Null: the browser does not say.
 */
export async function storageFacts(
  storage: MaybeStorage,
): Promise<{ persisted: boolean | null; usedBytes: number | null; quotaBytes: number | null }> {
  const [persisted, estimate] = await Promise.all([storage?.persisted?.() ?? null, storage?.estimate?.() ?? null]);
  return { persisted, usedBytes: estimate?.usage ?? null, quotaBytes: estimate?.quota ?? null };
}
