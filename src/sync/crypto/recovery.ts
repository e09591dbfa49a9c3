/** The recovery phrase: a secret of its own, on paper alone. The keyring is sealed to its key, and the relay keeps the box. */
import type { RandomBytes } from '../contract.ts';
import { publicKeyOf } from './agreement.ts';
import { base64url, draw } from './bytes.ts';
import { openBox } from './box.ts';
import { derive } from './derive.ts';
import { readPhrase, wordsOf } from './phrase.ts';
import { CRYPTO, LABEL } from './settings.ts';

export interface Recovery {
  readonly ok: true;
  /** Names the box at the relay: 32 bytes as base64url, from which the phrase cannot be found. */
  readonly id: string;
  /** X25519, 32 bytes as base64url: the keyring is sealed to it. */
  readonly boxKey: string;
  /** null: not sealed to this phrase, or changed on its way. */
  open(box: string): Uint8Array | null;
}

/** 24 words of the BIP-39 list: 32 random bytes. */
export const newPhrase = (random: RandomBytes): { readonly words: readonly string[] } => ({
  words: wordsOf(draw(random, CRYPTO.keyBytes)),
});

/** What a phrase opens, or a sentence about which word is wrong. */
export function recoveryOf(phrase: string): Recovery | { readonly ok: false; readonly reason: string } {
  const read = readPhrase(phrase);
  if (!read.ok) return read;
  const secret = derive(read.secret, LABEL.recoveryBox);
  return {
    ok: true,
    id: base64url(derive(read.secret, LABEL.recoveryId)),
    boxKey: base64url(publicKeyOf(secret)),
    open: (box) => openBox(secret, box),
  };
}
