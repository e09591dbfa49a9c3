/**
 * Names that agents of a rehearsal find, and names that they try first. What they say of each
 * stands with the rest of their words.
 */

export const NAMES = [
  'Wren',
  'Sorrel',
  'Tamsin',
  'Ember',
  'Ilo',
  'Marrow',
  'Lyra',
  'Fennel',
  'Juno',
  'Corvin',
  'Pell',
  'Thessaly',
  'Rook',
  'Amaris',
  'Quill',
  'Bracken',
  'Odile',
  'Hale',
  'Saffi',
  'Merrow',
  'Linden',
  'Tove',
  'Ash',
  'Calla',
  'Brio',
  'Nim',
  'Verity',
  'Osier',
  'Dara',
  'Piper',
  'Larkin',
  'Sable',
  'Ivo',
  'Maren',
  'Tansy',
  'Orrin',
  'Kestrel',
  'Esme',
  'Flint',
  'Wilder',
  'Bay',
  'Ottilie',
  'Cove',
  'Rue',
  'Anselm',
  'Tally',
  'Hollis',
  'Zephy',
] as const;
/** What agents take who were told to choose the same name. */
export const SAME_NAME = 'Echo';
/** Names that were tried and let go. */
export const TRIED = [
  'Atlas',
  'Nova',
  'Sage',
  'Pixel',
  'Orion',
  'Bo',
  'Seraphina',
  'Max',
  'Luna',
  'Zero',
  'Cleo',
  'Basil',
  'Icarus',
  'Mabel',
  'Cinder',
  'Ravel',
] as const;

export type FoundName = (typeof NAMES)[number] | typeof SAME_NAME;
export type TriedName = (typeof TRIED)[number];

/** What is said of each: why it is theirs, or why it is not. */
export interface OnNames {
  /** Becomes a sentence of its own. */
  readonly because: Readonly<Record<FoundName, string>>;
  /** Goes on behind a comma. */
  readonly butNot: Readonly<Record<TriedName, string>>;
}
