/**
 * Takes a secret out of what somebody else wrote: a server that echoes what it was sent must not tell it on. As it is,
 * and as JSON, addresses and base64 write it; where a text comes in pieces, also where they cut it.
 */
/** In which headers a model's server wants its key. */
export const KEY_HEADERS = ['bearer', 'x-api-key', 'both'] as const;
export type KeyHeader = (typeof KEY_HEADERS)[number];

/** What stands in its place. */
const INSTEAD = '[key]';
/** Shorter ones are no secrets but words, such as local servers take: to take those out would change what is said. */
const LEAST_LENGTH = 8;
/** base64 packs three bytes into four characters: where the secret begins within those decides how it looks. Without the characters that its neighbours decide with it. */
const ALIGNMENTS = [
  { before: 0, shared: 0 },
  { before: 1, shared: 2 },
  { before: 2, shared: 3 },
] as const;

export interface KeyFilter {
  /** The whole text without the secret. */
  words(text: string): string;
  /** The same for a text in pieces: holds back only what may be the beginning of the secret. */
  pieces(): PieceFilter;
}

interface PieceFilter {
  take(piece: string): string;
  /** What was held back, at the end. */
  rest(): string;
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret);
  const bytes = Buffer.from(secret, 'utf8');
  const packed = ALIGNMENTS.flatMap(({ before, shared }) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const end = Math.floor((whole.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((form) => whole.toString(form).slice(shared, end));
  });
  const hex = bytes.toString('hex');
  const lowerUrl = url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [
    ...new Set([secret, json, json.replaceAll('/', String.raw`\/`), url, lowerUrl, hex, hex.toUpperCase(), ...packed]),
  ];
}

const NOTHING: KeyFilter = { words: (text) => text, pieces: () => ({ take: (piece) => piece, rest: () => '' }) };

/** `secret` null: there is nothing to be taken out. */
export function createKeyFilter(secret: string | null): KeyFilter {
  if (secret === null || secret.length < LEAST_LENGTH) return NOTHING;
  const forms = formsOf(secret);
  const longest = Math.max(...forms.map((form) => form.length));

  function without(text: string): { readonly done: string; readonly left: string } {
    let done = '';
    let from = 0;
    for (;;) {
      let found: { at: number; length: number } | null = null;
      for (const form of forms) {
        const at = text.indexOf(form, from);
        if (at >= 0 && (found === null || at < found.at || (at === found.at && form.length > found.length)))
          found = { at, length: form.length };
      }
      if (found === null) return { done, left: text.slice(from) };
      done += text.slice(from, found.at) + INSTEAD;
      from = found.at + found.length;
    }
  }
  /** How much of the end may be the beginning of one. */
  function heldOf(text: string): number {
    for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
      const end = text.slice(-length);
      if (forms.some((form) => form.length > length && form.startsWith(end))) return length;
    }
    return 0;
  }

  return {
    words(text) {
      const { done, left } = without(text);
      return done + left;
    },
    pieces() {
      let held = '';
      return {
        take(piece) {
          const { done, left } = without(held + piece);
          const kept = heldOf(left);
          held = kept === 0 ? '' : left.slice(-kept);
          return done + left.slice(0, left.length - kept);
        },
        rest() {
          const last = held;
          held = '';
          return last;
        },
      };
    },
  };
}

/** Takes keys out of what is written, those too that come while the relay runs. */
export function createSecrets(first: string | null = null) {
  const filters = new Map<string, KeyFilter>();
  const add = (key: string): void => {
    if (!filters.has(key)) filters.set(key, createKeyFilter(key));
  };
  if (first !== null) add(first);
  return {
    add,
    clean: (text: string): string => [...filters.values()].reduce((rest, filter) => filter.words(rest), text),
  };
}

/** The same over bytes. Each byte is one character here, so none but the secret's own are changed. */
export async function* withoutKey(
  body: AsyncIterable<Uint8Array>,
  filter: KeyFilter,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = filter.pieces();
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const passed = pieces.take(bytes.toString('latin1'));
    if (passed.length > 0) yield Buffer.from(passed, 'latin1');
  }
  const rest = pieces.rest();
  if (rest.length > 0) yield Buffer.from(rest, 'latin1');
}
