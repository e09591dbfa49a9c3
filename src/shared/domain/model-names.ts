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
