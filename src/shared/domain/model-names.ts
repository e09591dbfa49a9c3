/** Names of models. Some protocols put them into a path, and all costs are counted by them. */
import { REHEARSAL_MODEL } from './prices.ts';

/** Characters that no name of a model has: controls, line separators, and halves of characters. */
const ODD = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Why no model server can have a model of this name. Null: one can. The text continues a sentence
 * that begins with the field.
 */
export function modelNameFault(name: string): string | null {
  if (name === '') return 'is empty';
  if (name === REHEARSAL_MODEL) return `is the demo’s own name, “${REHEARSAL_MODEL}”, and no model server’s`;
  if (name !== name.trim()) return 'begins or ends with white space';
  if (ODD.test(name)) return 'holds a control character or half a character';
  return name.split(/[/\\]/).some((part) => part === '.' || part === '..')
    ? 'holds “.” or “..” as a part of a path'
    : null;
}

/**
 * Context windows in tokens, request and answer together. Sources: the providers' tables of models,
 * November 2026. A later model of a family reads no less. The first match wins.
 */
const WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^claude-/, 200_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-5/, 400_000],
  [/^gpt-4o|^gpt-4-turbo/, 128_000],
  [/^o[134](?:-|$)/, 200_000],
  [/^gemini-/, 1_000_000],
];
/** Null: the name does not tell. A router puts the provider before the name. */
export const windowOf = (model: string): number | null =>
  WINDOWS.find(([name]) => name.test(model.replace(/^.*\//, '')))?.[1] ?? null;
