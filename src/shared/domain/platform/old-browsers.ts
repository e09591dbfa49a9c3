/**
 * What the oldest browsers that Roost runs in lack, and what is used in its place. The floors are
 * named in the README: Safari 16.4, Firefox 128, Chromium 111; `BROWSERS` in `vite.config.ts`
 * builds for them. Whatever came later is used through this file, or not at all.
 *
 * Also lacking, and met where it is used, by asking first: `showPopover` (Safari 17),
 * `showSaveFilePicker` (Safari, Firefox), `SharedWorker` (Chromium on Android), `createWritable` of
 * OPFS (Safari 26).
 */

/**
 * A stream's chunks: Safari cannot iterate a stream itself, in any version so far. Leaving the loop
 * early cancels the stream.
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

/** The address, or null where the text is none: `URL.canParse` came with Safari 17. */
export function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * The parts of `StorageManager` that may be absent: all of it in insecure contexts, each of them
 * before Safari 17.
 */
export type MaybeStorage = Partial<Pick<StorageManager, 'persisted' | 'estimate'>> | undefined;

/**
 * Whether what is stored is kept for good, and how much room there is. null: the browser does not
 * say.
 */
export async function storageFacts(
  storage: MaybeStorage,
): Promise<{ persisted: boolean | null; usedBytes: number | null; quotaBytes: number | null }> {
  const [persisted, estimate] = await Promise.all([storage?.persisted?.() ?? null, storage?.estimate?.() ?? null]);
  return { persisted, usedBytes: estimate?.usage ?? null, quotaBytes: estimate?.quota ?? null };
}
