/** Files that are there whole or not at all. */
import { rename, writeFile } from 'node:fs/promises';

/** Where it is made: left behind by a relay that died meanwhile. */
export const unfinished = (file: string): string => `${file}.new`;

/**
 * Written for its owner alone, on disk when this resolves. What was there before stays until then.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(unfinished(file), text, { mode: 0o600, flush: true });
  await rename(unfinished(file), file);
}
