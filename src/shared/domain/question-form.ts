/**
 * Forms that an MCP server asks the person to fill in (MCP's elicitation, form mode): their fields,
 * and which answers are valid. The page checks the input, and the relay checks it again before it
 * sends the server anything. Pure.
 */
import { urlOf } from './platform/old-browsers.ts';

/** The text formats of the protocol (revision 2025-11-25). */
export const TEXT_FORMATS = ['email', 'uri', 'date', 'date-time'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

export interface FormOption {
  readonly value: string;
  readonly title: string;
}
interface AnyField {
  /** Key of the value that the server receives. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
}
/**
 * `preset`: the value that is sent if the person leaves the field alone. Null: none. Bounds are
 * inclusive. Null: no bound.
 */
export type FormField = AnyField &
  (
    | {
        readonly kind: 'text';
        readonly format: TextFormat | null;
        readonly least: number | null;
        readonly most: number | null;
        readonly preset: string | null;
      }
    | {
        readonly kind: 'number';
        readonly isWhole: boolean;
        readonly least: number | null;
        readonly most: number | null;
        readonly preset: number | null;
      }
    | { readonly kind: 'yes-no'; readonly preset: boolean | null }
    | { readonly kind: 'one'; readonly options: readonly FormOption[]; readonly preset: string | null }
    | {
        readonly kind: 'many';
        readonly options: readonly FormOption[];
        readonly least: number | null;
        readonly most: number | null;
        readonly preset: readonly string[] | null;
      }
  );
export type FormValue = string | number | boolean | readonly string[];

/** Why a value is not valid for its field. */
export type Misfit =
  | 'missing'
  | 'kind'
  | 'short'
  | 'long'
  | 'email'
  | 'uri'
  | 'date'
  | 'date-time'
  | 'whole'
  | 'low'
  | 'high'
  | 'option'
  | 'few'
  | 'many'
  | 'unknown';

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/** RFC 3339, section 5.6. */
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const FEBRUARY = 2;
const SHORT_MONTHS: readonly number[] = [4, 6, 9, 11];

/** Whether this day exists. */
function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = (DATE.exec(text) ?? []).map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === FEBRUARY ? (isLeap ? 29 : 28) : SHORT_MONTHS.includes(month) ? 30 : 31;
  return month >= 1 && month <= 12 && day >= 1 && day <= days;
}

const FORMATS: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  email: (text) => EMAIL.test(text),
  uri: (text) => urlOf(text) !== null,
  date: isDate,
  'date-time': (text) => isDate(text.slice(0, 10)) && /^[Tt ]$/.test(text.charAt(10)) && TIME.test(text.slice(11)),
};

const isBelow = (size: number, least: number | null) => least !== null && size < least;
const isAbove = (size: number, most: number | null) => most !== null && size > most;

/** Null: the value is valid. */
export function misfitOf(field: FormField, value: FormValue): Misfit | null {
  switch (field.kind) {
    case 'text': {
      if (typeof value !== 'string') return 'kind';
      // JSON Schema counts characters, not UTF-16 units.
      const { length } = [...value];
      if (isBelow(length, field.least)) return 'short';
      if (isAbove(length, field.most)) return 'long';
      return field.format === null || FORMATS[field.format](value) ? null : field.format;
    }
    case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'kind';
      if (field.isWhole && !Number.isInteger(value)) return 'whole';
      if (isBelow(value, field.least)) return 'low';
      return isAbove(value, field.most) ? 'high' : null;
    case 'yes-no':
      return typeof value === 'boolean' ? null : 'kind';
    case 'one':
      return field.options.some((option) => option.value === value) ? null : 'option';
    case 'many':
      if (!Array.isArray(value)) return 'kind';
      if (new Set(value).size < value.length) return 'option';
      if (!value.every((each) => field.options.some((option) => option.value === each))) return 'option';
      if (isBelow(value.length, field.least)) return 'few';
      return isAbove(value.length, field.most) ? 'many' : null;
  }
}

/** By field name. Null: the person has emptied the field, and its preset is not sent either. */
export type Given = Readonly<Record<string, FormValue | null>>;

export type Checked =
  | { readonly ok: true; readonly content: Readonly<Record<string, FormValue>> }
  | { readonly ok: false; readonly misfits: readonly (readonly [name: string, misfit: Misfit])[] };

/**
 * The content to send to the server. An untouched field has its preset (SEP-1034), or is left out
 * if it has none.
 */
export function checkForm(fields: readonly FormField[], given: Given): Checked {
  const misfits: (readonly [string, Misfit])[] = [];
  const content: (readonly [string, FormValue])[] = [];
  for (const name of Object.keys(given))
    if (!fields.some((field) => field.name === name)) misfits.push([name, 'unknown']);
  for (const field of fields) {
    const { name, isRequired, preset } = field;
    const value = Object.hasOwn(given, name) ? (given[name] ?? null) : preset;
    const misfit = value === null ? (isRequired ? 'missing' : null) : misfitOf(field, value);
    if (misfit !== null) misfits.push([name, misfit]);
    else if (value !== null) content.push([name, value]);
  }
  return misfits.length > 0 ? { ok: false, misfits } : { ok: true, content: Object.fromEntries(content) };
}

/** Words for secrets, which no server may ask for in a form, in the languages of the page. */
const SECRETS =
  /pass[\s_-]?(?:word|phrase|code|wd)|secret|api[\s_-]?key|(?:access|private|recovery|licen[cs]e|encryption|ssh)[\s_-]?key|seed[\s_-]?phrase|mnemonic|\btoken|credential|\bpins?\b|one[\s_-]?time|\b[om]tp\b|\b2fa\b|\btan\b|\bcv[vc]\d?\b|(?:card|account)[\s_-]?n(?:umber|o\b)|credit[\s_-]?card|\biban\b|social[\s_-]?security|\bssn\b|log[\s_-]?in|sign[\s_-]?in|kennwort|passwort|schlüssel|geheim|zugangsdaten|kreditkarte|kartennummer|anmeld/iu;

/** Whether a question seems to ask for a secret. */
export const soundsSecret = (words: readonly string[]): boolean =>
  words.some((text) => SECRETS.test(text.normalize('NFKC').replace(/\p{Cf}/gu, '')));
