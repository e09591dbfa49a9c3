/** Writes files that are either complete or absent. */
import { rename, writeFile } from 'node:fs/promises';

/** The temporary file. A relay that dies in between leaves it behind. */
export const unfinished = (file: string): string => `${file}.new`;

/**
 * Writes a file that only its owner can read. It is on disk when this resolves. Until then, the
 * previous file stays.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(unfinished(file), text, { mode: 0o600, flush: true });
  await rename(unfinished(file), file);
}
