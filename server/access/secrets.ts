/** One-time codes and cookie tokens: 256 random bits each; only their hashes are kept. */
import { createHash, randomBytes } from 'node:crypto';

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** A secret of this length cannot be guessed, so a plain hash needs no salt and no slowness. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
