/**
 * Addresses on the web that a person types. They are parsed once, here, and refused where a second
 * parser could read another host in them than this one does.
 */
import { z } from 'zod';
import { urlOf } from '../domain/platform/old-browsers.ts';

/** White space, control and invisible characters. URL parsers drop some of them silently. */
const ODD = /[\s\p{C}\p{Z}]/u;
/** Scheme and authority. Parsers also accept one slash, or three. */
const BEGINNING = /^https?:\/\/(?<authority>[^/?#]+)/i;

const FAULTS = {
  odd: 'holds white space or a control character',
  backslash: 'holds a backslash',
  scheme: 'must be an address that begins with http:// or https://',
  password: 'must hold no name and no password; a key has its own field',
  dot: 'names a host with a dot at its end',
  port: 'names port 0, at which nothing answers',
} as const;

/** Null: this is an address to call. */
export function addressFault(text: string): keyof typeof FAULTS | null {
  if (ODD.test(text)) return 'odd';
  if (text.includes('\\')) return 'backslash';
  const authority = BEGINNING.exec(text)?.groups?.['authority'];
  const url = urlOf(text);
  if (url === null || authority === undefined) return 'scheme';
  if (authority.includes('@')) return 'password';
  if (url.hostname.endsWith('.')) return 'dot';
  return url.port === '0' ? 'port' : null;
}

/** An address, in the one spelling that all parsers read alike. Null: it is refused. */
export const addressOf = (text: string): URL | null => (addressFault(text) === null ? new URL(text) : null);

/** The same text where it is no such address. */
export const inOneSpelling = (text: string): string => addressOf(text)?.href ?? text;

export const webAddress = (mostCharacters: number) =>
  z
    .string()
    .max(mostCharacters)
    .superRefine((text, context) => {
      const fault = addressFault(text);
      if (fault !== null) context.addIssue({ code: 'custom', message: FAULTS[fault] });
    });
