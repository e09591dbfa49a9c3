import { ENGLISH } from './wording-english.ts';
import { GERMAN } from './wording-german.ts';
import type { Wording } from './wording.ts';

/** What it says, in the language that it speaks. */
export const wordingOf = (german: boolean): Wording => (german ? GERMAN : ENGLISH);
