/** A device of a household as the relay meets it: keys, proofs and calls, made with Node's own cryptography. */
import { randomBytes } from 'node:crypto';

/** Of a household, a device or a writer. */
export const newSyncId = (): string => randomBytes(16).toString('base64url');
