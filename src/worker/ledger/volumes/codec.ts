/**
 * Encodes documents so that Fireproof can store them.
 *
 * Fireproof encodes text as UTF-8. That loses half surrogate pairs, and a byte order mark at the
 * beginning of a text or of a piece of one. Fireproof takes only ASCII keys, and names that begin
 * with "_" have a meaning of their own. Only these are escaped. A text that is too long for one
 * commit goes into documents of its own. Everything else is stored unchanged.
 *
 * `decodeDocuments(docs.flatMap(encodeDocument))` returns exactly the original documents.
 */
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import { parseDocument, type Doc } from '../../../shared/protocol/documents.ts';
import { LEDGER } from '../settings.ts';

/** A document as it is stored in a volume. */
export type StoredDoc = { readonly _id: string } & Readonly<Record<string, unknown>>;

/** U+0010, "data link escape". Four hex digits follow, or `p` and the numbers of the parts. */
const MARK = '\u0010';
// eslint-disable-next-line no-control-regex
const UNSAFE = /\u0010|\ufeff|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// eslint-disable-next-line no-control-regex
const PART_REFERENCE = /^\u0010p(\d+)-(\d+)$/;

const hex = (char: string) => char.charCodeAt(0).toString(16).padStart(4, '0');
const escapeString = (text: string) => text.replace(UNSAFE, (char) => MARK + hex(char));
// eslint-disable-next-line no-control-regex
const ESCAPED = /\u0010([0-9a-f]{4})/g;
const unescapeString = (text: string) =>
  text.replace(ESCAPED, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const escapeKey = (key: string) =>
  key.startsWith('_') ? `${MARK}005f${escapeString(key.slice(1))}` : escapeString(key);

/**
 * Ids: every character but letters, digits and `_ . : -` becomes `%` and four hex digits. `~` is
 * reserved for parts.
 */
export const encodeId = (id: string) => id.replace(/[^A-Za-z0-9_.:-]/g, (char) => `%${hex(char)}`);
export const decodeId = (id: string) =>
  id.replace(/%([0-9a-f]{4})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
const partId = (encodedId: string, number: number) => `${encodedId}~${number}`;
export const isPartId = (encodedId: string) => encodedId.includes('~');

/** Pieces of at most `partChars`, never cut between the halves of a surrogate pair. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + LEDGER.partChars);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** The stored documents of one document: first the parts of its long texts, then itself. */
export function encodeDocument(doc: Doc): StoredDoc[] {
  const id = encodeId(doc._id);
  const parts: StoredDoc[] = [];
  const encode = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const text = escapeString(value);
      if (text.length <= LEDGER.partChars) return text;
      const first = parts.length;
      for (const piece of cut(text)) parts.push({ _id: partId(id, parts.length), type: 'part', of: id, text: piece });
      return `${MARK}p${first}-${parts.length - 1}`;
    }
    if (Array.isArray(value)) return value.map(encode);
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [escapeKey(key), encode(inner)]));
    return value;
  };
  const fields = Object.entries(doc).filter(([key]) => key !== '_id');
  const main = Object.fromEntries(fields.map(([key, value]) => [escapeKey(key), encode(value)]));
  return [...parts, { ...main, _id: id }];
}

export interface Decoded {
  readonly docs: readonly Doc[];
  /** Ids of documents that cannot be read completely, with the reason. */
  readonly damaged: readonly { readonly id: string; readonly reason: string }[];
}

/** Decodes everything that a volume holds. */
export function decodeDocuments(stored: readonly StoredDoc[]): Decoded {
  const parts = new Map(stored.filter((doc) => isPartId(doc._id)).map((doc) => [doc._id, doc]));
  const docs: Doc[] = [];
  const damaged: { id: string; reason: string }[] = [];
  for (const { _id, ...fields } of stored) {
    if (isPartId(_id)) continue;
    const text = (value: string): string => {
      const reference = PART_REFERENCE.exec(value);
      if (!reference) return unescapeString(value);
      let whole = '';
      for (let n = Number(reference[1]); n <= Number(reference[2]); n++) {
        const piece = parts.get(partId(_id, n))?.['text'];
        if (typeof piece !== 'string') throw new RangeError(`part ${n} is missing`);
        whole += piece;
      }
      return unescapeString(whole);
    };
    const decode = (value: unknown): unknown => {
      if (typeof value === 'string') return text(value);
      if (Array.isArray(value)) return value.map(decode);
      if (typeof value === 'object' && value !== null)
        return Object.fromEntries(Object.entries(value).map(([key, inner]) => [unescapeString(key), decode(inner)]));
      return value;
    };
    const id = decodeId(_id);
    try {
      const entries = Object.entries(fields).map(([key, value]) => [unescapeString(key), decode(value)]);
      docs.push(parseDocument({ ...Object.fromEntries(entries), _id: id }));
    } catch (error) {
      damaged.push({ id, reason: errorMessage(error) });
    }
  }
  return { docs, damaged };
}
