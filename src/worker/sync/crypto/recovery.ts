/**
 * The recovery phrase: a secret of its own, which exists only on paper. The keyring is sealed to
 * its key, and the relay stores the box.
 */
import { sentence } from '../../../shared/domain/names.ts';
import type { RandomBytes } from '../contract.ts';
import { derive, openBox, publicKeyOf } from './box.ts';
import { base64url, draw } from './bytes.ts';
import { CRYPTO, LABEL } from './settings.ts';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

/** Makes and reads phrases: twenty-four words of the BIP-39 list, in the ways people write them. */
const PHRASE_WORDS = 24;
/** No two words of the list begin with the same four letters. */
const PREFIX = 4;
const SHOWN = 20;

type ReadPhrase =
  | { readonly ok: true; readonly secret: Uint8Array }
  /** A sentence: which word is wrong, and what to do. */
  | { readonly ok: false; readonly reason: string };

/** `secret`: 32 bytes. */
const wordsOf = (secret: Uint8Array): readonly string[] => entropyToMnemonic(secret, wordlist).split(' ');

/**
 * Accepts any case, numbers before the words, commas or line breaks between them, and words cut
 * after four letters.
 */
function readPhrase(text: string): ReadPhrase {
  const typed = text
    .normalize('NFKD')
    .toLowerCase()
    .split(/[\s,;|]+/u)
    .map((piece) => piece.replace(/^[(#]*\d*[.):]*/u, '').replace(/[.:]+$/u, ''))
    .filter((piece) => piece !== '');
  if (typed.length !== PHRASE_WORDS) return wrong(countSentence(typed.length));
  const words = typed.map(wordMeant);
  const unknown = words.indexOf(null);
  if (unknown >= 0) return wrong(unknownSentence(unknown + 1, typed[unknown] ?? ''));
  try {
    return { ok: true, secret: mnemonicToEntropy(words.join(' '), wordlist) };
  } catch {
    // The words and their number are right, so the checksum is wrong. The library throws for
    // nothing else.
    return wrong(sentence`These 24 words are not a recovery phrase: one is wrong, or two are in the wrong order.`);
  }
}

function wordMeant(typed: string): string | null {
  if (wordlist.includes(typed)) return typed;
  return typed.length >= PREFIX ? (wordlist.find((word) => word.startsWith(typed)) ?? null) : null;
}

function countSentence(count: number): string {
  return sentence`A recovery phrase has 24 words. You typed ${count}.`;
}

function unknownSentence(place: number, typed: string): string {
  const letters = [...typed];
  const shown = letters.length > SHOWN ? `${letters.slice(0, SHOWN).join('')}…` : typed;
  const near = nearest(typed.slice(0, SHOWN));
  if (near.length === 0) return sentence`Word ${place}, “${shown}”, is not in the list.`;
  return sentence`Word ${place}, “${shown}”, is not in the list. Similar words: ${near.join(', ')}.`;
}

/**
 * The list's words nearest to the typed one, if at most two letters differ. At most three words.
 */
function nearest(typed: string): readonly string[] {
  const distances = wordlist.map((word) => ({ word, distance: distance(typed, word) }));
  const least = Math.min(...distances.map((one) => one.distance));
  return least > 2
    ? []
    : distances
        .filter((one) => one.distance === least)
        .slice(0, 3)
        .map(({ word }) => word);
}

/** Letters added, left out, changed, or swapped with their neighbour (optimal string alignment). */
function distance(left: string, right: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      next.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (next[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[column - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    before = last;
    last = next;
  }
  return last[right.length] ?? 0;
}

const wrong = (reason: string): ReadPhrase => ({ ok: false, reason });

export interface Recovery {
  readonly ok: true;
  /** Names the box at the relay: 32 bytes as base64url. The phrase cannot be derived from it. */
  readonly id: string;
  /** X25519, 32 bytes as base64url. The keyring is sealed to it. */
  readonly boxKey: string;
  /** Null: not sealed to this phrase, or changed on its way. */
  open(box: string): Uint8Array | null;
}

/** 24 words of the BIP-39 list: 32 random bytes. */
export const newPhrase = (random: RandomBytes): { readonly words: readonly string[] } => ({
  words: wordsOf(draw(random, CRYPTO.keyBytes)),
});

/** The keys of a phrase, or a sentence about which word is wrong. */
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
