/**
 * Seals data in the store: XChaCha20-Poly1305 with a key in the relay's folder. A copy of the
 * database alone is unreadable. With the folder as well, it is readable.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { StartError } from './errors.ts';
import { writeWhole } from './whole-file.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 24;

export interface Sealer {
  /**
   * `about` is not sealed itself. Data that was sealed for one `about` does not open with another.
   */
  seal(text: string, about: string): Uint8Array;
  /** Null: it was sealed with another key or another `about`, or was changed. */
  open(sealed: Uint8Array, about: string): string | null;
}

export function createSealer(key: Uint8Array): Sealer {
  const cipher = (nonce: Uint8Array, about: string) => xchacha20poly1305(key, nonce, new TextEncoder().encode(about));
  return {
    seal(text, about) {
      const nonce = randomBytes(NONCE_BYTES);
      return Buffer.concat([nonce, cipher(nonce, about).encrypt(new TextEncoder().encode(text))]);
    },
    open(sealed, about) {
      try {
        const opened = cipher(sealed.subarray(0, NONCE_BYTES), about).decrypt(sealed.subarray(NONCE_BYTES));
        return new TextDecoder().decode(opened);
      } catch {
        // Any failure means that this key did not seal it.
        return null;
      }
    },
  };
}

/**
 * Reads the key of this folder, and creates it if it is missing. Throws `StartError` if the file is
 * no key or cannot be written.
 */
export async function readSealingKey(file: string): Promise<Uint8Array> {
  try {
    if (existsSync(file)) {
      const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'base64');
      if (key.length !== KEY_BYTES)
        throw new StartError(
          `${file} is not a file that Roost has written. Restore it from a copy, or remove it: the pages then send again what was sealed with it.`,
        );
      return key;
    }
    const key = randomBytes(KEY_BYTES);
    await writeWhole(file, `${key.toString('base64')}\n`);
    return key;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${file} cannot be read or written (${errorMessage(error)}).`, 1, {
      cause: error,
    });
  }
}
