/**
 * Removes secrets from text of others. A server that echoes a request must not pass a secret on. A
 * secret is found literally and in the notations of JSON, URLs, base64 and hex. An Aho–Corasick
 * automaton finds all forms of all secrets in one pass. So the time depends only on the length of
 * the text, and a hostile server cannot raise it.
 */

import { mapStrings, toWellFormed } from './json-bounds.ts';
import { createPace, type Pace } from './pace.ts';

/** The headers in which a model server expects its key. */
export const KEY_HEADERS = ['bearer', 'x-api-key', 'both'] as const;
export type KeyHeader = (typeof KEY_HEADERS)[number];

const KEY_FILTER_LIMITS = {
  /** A shorter key is a word, as local servers accept. Removing a word would change the text. */
  leastLength: 8,
  /** Number of added secrets that `createSecrets` stores. The newest stay. */
  added: 200,
  /** Characters that `longValue` reads in one step. */
  stepCharacters: 65_536,
} as const;

/** Replaces a secret. */
const INSTEAD = '[key]';
/**
 * Base64 packs three bytes into four characters, so a secret looks different at each of three
 * offsets. `shared`: the first characters, which depend on the bytes before the secret.
 */
const ALIGNMENTS = [
  { before: 0, shared: 0 },
  { before: 1, shared: 2 },
  { before: 2, shared: 3 },
] as const;

export interface KeyFilter {
  /** The text without the secrets. */
  words(text: string): string;
  /**
   * Characters `from` up to `to` of the text without the secrets. A secret that crosses an edge is
   * removed completely.
   */
  part(text: string, from: number, to: number): string;
  /** A JSON value with every string filtered, field names included. */
  value<Value>(value: Value): Value;
  /** The same for a long value, in steps. Other requests run in between. */
  longValue<Value>(value: Value): Promise<Value>;
  /** The same for a text in pieces. It holds back only what may be the beginning of a secret. */
  pieces(): PieceFilter;
}

interface PieceFilter {
  take(piece: string): string;
  /** The held-back text, at the end. */
  rest(): string;
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(toWellFormed(secret));
  const bytes = Buffer.from(secret, 'utf8');
  const packed = ALIGNMENTS.flatMap(({ before, shared }) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const end = Math.floor((whole.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((form) => whole.toString(form).slice(shared, end));
  });
  const hex = bytes.toString('hex');
  const lowerUrl = url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  // `withoutKey` reads bytes as latin1. This is a UTF-8 secret in that form.
  const latin1 = bytes.toString('latin1');
  const json1 = Buffer.from(json).toString('latin1');
  return [
    secret,
    json,
    json.replaceAll('/', String.raw`\/`),
    latin1,
    json1,
    url,
    lowerUrl,
    hex,
    hex.toUpperCase(),
    ...packed,
  ];
}

/**
 * A trie of all forms. State 0 is its root. A state stands for the prefix of a form that leads to
 * it.
 */
interface Automaton {
  /** The next state by this character; 0: none. */
  child(state: number, code: number): number;
  /** By state: the state of the longest proper suffix that is also a prefix of a form. */
  readonly fail: Uint32Array;
  /** The number of characters read, by state. */
  readonly depth: Uint32Array;
  /** By state: the length of the longest form that ends here; 0: none. */
  readonly ends: Uint32Array;
  /** The characters that lead to this state. */
  pathTo(state: number): string;
  /** Length of the longest form. */
  readonly longest: number;
}

const ASCII = 128;

function createAutomaton(forms: readonly string[]): Automaton {
  const most = forms.reduce((sum, form) => sum + form.length, 1);
  const codes = new Uint16Array(most);
  const firstChild = new Uint32Array(most);
  const sibling = new Uint32Array(most);
  const formAt = new Uint32Array(most);
  const fail = new Uint32Array(most);
  const depth = new Uint32Array(most);
  const ends = new Uint32Array(most);
  /** Transitions of the root, where most of a text is read. */
  const rootAscii = new Uint32Array(ASCII);
  const rootOther = new Map<number, number>();

  function child(state: number, code: number): number {
    if (state === 0) return code < ASCII ? (rootAscii[code] ?? 0) : (rootOther.get(code) ?? 0);
    let next = firstChild[state] ?? 0;
    while (next !== 0 && codes[next] !== code) next = sibling[next] ?? 0;
    return next;
  }
  let states = 1;
  for (const [index, form] of forms.entries()) {
    let state = 0;
    for (let i = 0; i < form.length; i++) {
      const code = form.charCodeAt(i);
      let next = child(state, code);
      if (next === 0) {
        next = states++;
        codes[next] = code;
        depth[next] = i + 1;
        formAt[next] = index;
        sibling[next] = firstChild[state] ?? 0;
        firstChild[state] = next;
        if (state === 0 && code < ASCII) rootAscii[code] = next;
        else if (state === 0) rootOther.set(code, next);
      }
      state = next;
    }
    ends[state] = form.length;
  }
  // In order of depth. A state's fallback is less deep and was built before it.
  const queue = new Uint32Array(states);
  let queued = 1;
  for (let at = 0; at < queued; at++) {
    const state = queue[at] ?? 0;
    for (let next = firstChild[state] ?? 0; next !== 0; next = sibling[next] ?? 0) {
      queue[queued++] = next;
      if (state === 0) continue;
      const code = codes[next] ?? 0;
      let back = fail[state] ?? 0;
      while (back !== 0 && child(back, code) === 0) back = fail[back] ?? 0;
      fail[next] = child(back, code);
      ends[next] ||= ends[fail[next] ?? 0] ?? 0;
    }
  }
  return {
    child,
    fail,
    depth,
    ends,
    pathTo: (state) => (forms[formAt[state] ?? 0] ?? '').slice(0, depth[state]),
    longest: forms.reduce((longest, form) => Math.max(longest, form.length), 0),
  };
}

/** Reads a text in pieces, and records where it contains forms. */
function createReader({ child, fail, ends }: Automaton) {
  let state = 0;
  /** Ranges (from, to) in order, without overlaps. Both count from the last `shift`. */
  const matches: { from: number; to: number }[] = [];
  return {
    state: () => state,
    found: matches,
    /** Reads characters `from` up to `to`. The first of them is at position `at`. */
    read(text: string, from: number, to: number, at: number): void {
      for (let i = from; i < to; i++) {
        const code = text.charCodeAt(i);
        let next = child(state, code);
        while (next === 0 && state !== 0) {
          state = fail[state] ?? 0;
          next = child(state, code);
        }
        state = next;
        const length = ends[state] ?? 0;
        if (length === 0) continue;
        const end = at + i - from + 1;
        let start = end - length;
        // A match that spans earlier matches replaces them.
        for (let last = matches.at(-1); last && last.to > start; last = matches.at(-1)) {
          start = Math.min(start, last.from);
          matches.pop();
        }
        matches.push({ from: start, to: end });
      }
    },
  };
}

const NOTHING: KeyFilter = {
  words: (text) => text,
  part: (text, from, to) => text.slice(from, to),
  value: (value) => value,
  longValue: (value) => Promise.resolve(value),
  pieces: () => ({ take: (piece) => piece, rest: () => '' }),
};

/** Null, and words of fewer than `leastLength` characters, are not secrets. */
export function createKeyFilter(...secrets: readonly (string | null)[]): KeyFilter {
  const longEnough = secrets.filter((secret) => secret !== null && secret.length >= KEY_FILTER_LIMITS.leastLength);
  if (longEnough.length === 0) return NOTHING;
  const automaton = createAutomaton([...new Set(longEnough.flatMap((secret) => formsOf(secret ?? '')))]);

  function part(text: string, from: number, to: number): string {
    const reach = automaton.longest - 1;
    const start = Math.max(0, from - reach);
    const { read, found } = createReader(automaton);
    read(text, start, Math.min(text.length, to + reach), start);
    let passed = '';
    let at = from;
    for (const secret of found) {
      if (secret.to <= from || secret.from >= to) continue;
      passed += text.slice(at, Math.max(at, secret.from)) + INSTEAD;
      at = secret.to;
    }
    return passed + text.slice(at, to);
  }

  const words = (text: string) => part(text, 0, text.length);

  function pieces(): PieceFilter {
    let reader = createReader(automaton);
    /** Number of held-back characters that were replaced already. */
    let replaced = 0;

    /**
     * Processes the held-back text and the next piece. Afterwards `keeps(all)` characters are held
     * back.
     */
    function pass(piece: string, keeps: () => number): string {
      const prefix = automaton.pathTo(reader.state());
      const text = (from: number, to: number) =>
        prefix.slice(from, to) + piece.slice(Math.max(0, from - prefix.length), Math.max(0, to - prefix.length));
      reader.read(piece, 0, piece.length, prefix.length);
      const hold = prefix.length + piece.length - keeps();
      let passed = '';
      let at = replaced;
      const { found } = reader;
      const whole = found.filter(({ from }) => from <= hold);
      for (const secret of whole) {
        // A match that begins inside a replaced one overlaps it, and both count as one.
        if (secret.from >= at) passed += text(at, secret.from) + INSTEAD;
        at = Math.max(at, secret.to);
      }
      if (at < hold) passed += text(at, hold);
      replaced = Math.max(0, at - hold);
      found.splice(0, whole.length);
      for (const secret of found) {
        secret.from -= hold;
        secret.to -= hold;
      }
      return passed;
    }
    return {
      take: (piece) => pass(piece, () => automaton.depth[reader.state()] ?? 0),
      rest() {
        const last = pass('', () => 0);
        reader = createReader(automaton);
        replaced = 0;
        return last;
      },
    };
  }

  async function longText(text: string, pace: Pace): Promise<string> {
    const filter = pieces();
    let passed = '';
    for (let from = 0; from < text.length; from += KEY_FILTER_LIMITS.stepCharacters) {
      await pace();
      passed += filter.take(text.slice(from, from + KEY_FILTER_LIMITS.stepCharacters));
    }
    return passed + filter.rest();
  }
  async function longValue(value: unknown, pace: Pace): Promise<unknown> {
    if (typeof value === 'string') return await longText(value, pace);
    if (Array.isArray(value)) {
      const all: unknown[] = [];
      for (const each of value) all.push(await longValue(each, pace));
      return all;
    }
    if (typeof value !== 'object' || value === null) return value;
    const fields: [string, unknown][] = [];
    for (const [name, each] of Object.entries(value)) fields.push([words(name), await longValue(each, pace)]);
    return Object.fromEntries(fields);
  }

  return {
    words,
    part,
    value: (value) => mapStrings(value, words, words) as typeof value,
    longValue: async (value) => (await longValue(value, createPace())) as typeof value,
    pieces,
  };
}

export interface Secrets extends KeyFilter {
  add(secret: string): void;
}

/**
 * Removes these secrets and those that are added later. Of the added ones, it stores the newest
 * `most`.
 */
export function createSecrets(
  lasting: readonly (string | null)[] = [],
  most: number = KEY_FILTER_LIMITS.added,
): Secrets {
  const added = new Set<string>();
  let filter: KeyFilter | null = null;
  const current = () => (filter ??= createKeyFilter(...lasting, ...added));
  return {
    add(secret) {
      if (added.has(secret) || lasting.includes(secret)) return;
      added.add(secret);
      const [oldest] = added;
      if (added.size > most && oldest !== undefined) added.delete(oldest);
      filter = null;
    },
    words: (text) => current().words(text),
    part: (text, from, to) => current().part(text, from, to),
    value: (value) => current().value(value),
    longValue: (value) => current().longValue(value),
    pieces: () => current().pieces(),
  };
}

/** The same over bytes. Each byte is one character, so only the bytes of a secret are changed. */
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
