/**
 * The texts of the page: written in English where they are used, shown in the language of the page.
 */
import { createElement, Fragment, type ReactNode } from 'react';
import { spoken, type Translation } from './catalogue.ts';

/**
 * The key of a text in a catalogue: `Wake {0}`. Braces stand for nothing else in a text of the
 * page.
 */
export const keyOf = (strings: readonly string[]): string =>
  strings.reduce((key, string, at) => `${key}{${at - 1}}${string}`);

/** A text with holes, cut where the holes are: `['Wake ', 0, '']`. */
type Cut = readonly (string | number)[];
/** By the place in the code: what is said there is looked up once, not each time it is drawn. */
const cuts = new WeakMap<readonly string[], Cut>();

function cutOf(strings: readonly string[]): Cut {
  let pieces = cuts.get(strings);
  if (!pieces) {
    const found = spoken.texts[keyOf(strings)];
    pieces =
      typeof found === 'string'
        ? found.split(/\{(\d+)\}/).map((piece, at) => (at % 2 ? Number(piece) : piece))
        : strings.flatMap((string, at) => (at === 0 ? [string] : [at - 1, string]));
    cuts.set(strings, pieces);
  }
  return pieces;
}

/** A text that is not in the catalogue is shown in English: rather that than nothing. */
function formOf(found: Translation | undefined, of: number): string | undefined {
  if (found === undefined || typeof found === 'string') return found;
  return found[plurals.select(of)] ?? found.other;
}
const plurals = new Intl.PluralRules(spoken.locale);

/**
 * A text in the language of the page: t`Wake ${name}`. What is put in may be words and numbers, and
 * then it is a string, or elements of the page: t`Press ${<kbd>Esc</kbd>} to close it`. The texts
 * in the code are the keys of the catalogue; `npm run texts` says which of them a language lacks.
 */
export function t(strings: TemplateStringsArray, ...values: readonly (string | number)[]): string;
export function t(strings: TemplateStringsArray, ...values: readonly ReactNode[]): ReactNode;
export function t(strings: TemplateStringsArray, ...values: readonly ReactNode[]): ReactNode {
  const parts = cutOf(strings).map((piece) => (typeof piece === 'number' ? values[piece] : piece));
  return values.every((value) => typeof value === 'string' || typeof value === 'number')
    ? parts.join('')
    : createElement(Fragment, null, ...parts);
}

/**
 * A number of things: `1 message`, `12 messages`. In a catalogue it stands by both forms, `{0}
 * message|{0} messages`, with a form for each category that the language knows.
 * @param shown the number as it is read
 */
export function counted(value: number, shown: string, one: string, many: string): string {
  const form = formOf(spoken.texts[`{0} ${one}|{0} ${many}`], value) ?? `{0} ${value === 1 ? one : many}`;
  return form.replace('{0}', shown);
}

/**
 * A text that comes from elsewhere, word by word as it is in English: from the relay, or from a
 * table that others read too.
 */
export function translated(text: string): string {
  const found = spoken.texts[text];
  return typeof found === 'string' ? found : text;
}
