/** A document as plain JSON data, which every store gives back exactly. */
import { parseDocument, type Doc } from '../../shared/protocol/documents.ts';

/**
 * Checks one document and makes it plain: fields that are `undefined` go, -0 becomes 0. Throws
 * where it is no document, or holds what JSON does not know, with the place.
 */
export function plainDocument(value: unknown): Doc {
  return parseDocument(plain(value, 'document'));
}

function plain(value: unknown, where: string): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${where} is ${value}, which cannot be stored.`);
      return value === 0 ? 0 : value;
    case 'object': {
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((inner, i) => plain(inner ?? null, `${where}[${i}]`));
      const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
      return Object.fromEntries(fields.map(([key, inner]) => [key, plain(inner, `${where}.${key}`)]));
    }
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      throw new TypeError(`${where} is a ${typeof value}, which cannot be stored.`);
  }
}
