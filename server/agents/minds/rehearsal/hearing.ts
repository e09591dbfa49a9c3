/** How the stand-in hears what was typed in haste, in another language, or was no words at all. */

/** As people write to each other in a hurry. */
const SHORT: Readonly<Record<string, string>> = {
  u: 'you',
  r: 'are',
  ur: 'your',
  pls: 'please',
  plz: 'please',
  thx: 'thanks',
  ty: 'thanks',
  wat: 'what',
  wut: 'what',
  hw: 'how',
  im: 'i’m',
};
/** Words by which it recognises what is meant, and which a slip of the finger may not hide. */
const KNOWN = ['what', 'hello', 'help', 'thanks', 'remember', 'please', 'morning', 'evening', 'night', 'started'];

/** Two letters changed places, or one is missing, doubled or too many. */
function isSlip(word: string, of: string): boolean {
  if (word.length === of.length) {
    const at = [...of].findIndex((letter, i) => word[i] !== letter);
    return word === `${of.slice(0, at)}${of[at + 1] ?? ''}${of[at] ?? ''}${of.slice(at + 2)}`;
  }
  const [short, long] = word.length < of.length ? [word, of] : [of, word];
  if (long.length - short.length !== 1) return false;
  const at = [...long].findIndex((letter, i) => short[i] !== letter);
  return short === `${long.slice(0, at)}${long.slice(at + 1)}`;
}

/** The same with words as they are meant. */
export const meant = (said: string): string =>
  said.replace(/\p{L}+/gu, (word) => {
    const lower = word.toLowerCase();
    if (KNOWN.includes(lower)) return word;
    return SHORT[lower] ?? (lower.length > 3 ? (KNOWN.find((known) => isSlip(lower, known)) ?? word) : word);
  });

/**
 * No English sentence has one of these by itself. The sentences that the page offers are in it, and
 * what the stand-in does on a word.
 */
const GERMAN =
  /(?<!\p{L})(?:ich|kannst|könnt|bist|hast|nicht|wer|wie|wo|was ist|was sind|mir|dir|mich|dich|uns|euch|bitte|danke|hallo|moin|servus|guten|gute|tschüss|auf wiedersehen|warum|wieso|welche[rsn]?|können|möchte|für|über|heißt|heisst|gib|erzähle?|schreibe?|erkläre?|merke?|wecke?|lösche?|schlafe?|hilfe|hilf|nichts|kostet|habe|haben|frage?|einen)(?!\p{L})/giu;
const PERHAPS = /\b(?:ist|das|der|und|ein|eine|du|mein|dein)\b/giu;
const OTHER = /(?<!\p{L})(?:bonjour|merci|hola|gracias|cómo|qué|ciao|grazie|olá|obrigad[oa])(?!\p{L})/iu;

const hits = (said: string, pattern: RegExp) => new Set(said.toLowerCase().match(pattern) ?? []).size;

/**
 * Which language it is written in, as far as that is seen; null: English, or none that it knows.
 */
export function spokenIn(said: string): 'German' | 'another' | null {
  if (hits(said, GERMAN) > 0 || hits(said, PERHAPS) > 1) return 'German';
  const isLatin = !/\p{L}/u.test(said) || /\p{Script=Latin}/u.test(said);
  return OTHER.test(said) || !isLatin ? 'another' : null;
}

/** What no German sentence has in it. */
const ENGLISH =
  /\b(?:the|is|are|am|what|who|how|why|where|you|your|my|and|please|hello|thanks|thank|can|could|does|tell|write|remember|remind|this|that|with|i)\b/iu;

/**
 * Is it to be answered in German? So it was written, or the page is German and it is in no other
 * language: a name, a number, „ok“.
 */
export function inGerman({ german }: { readonly german: boolean }, said: string): boolean {
  const spoken = spokenIn(said);
  return spoken === 'German' ? wordless(said) === null || german : german && !(spoken === null && ENGLISH.test(said));
}

/** A hand on the keys. */
const ROW = /^(?:[asdfghjklöä]{6,}|[qwertzuiopü]{7,}|[bcdfghjklmnpqrstvwxz]{6,})$/iu;

/** Does it say anything? `hello`: it waves. */
export function wordless(said: string): 'hello' | 'nothing' | null {
  if (/[👋🙋🤗]/u.test(said) && !/\p{L}/u.test(said)) return 'hello';
  return !/[\p{L}\p{N}]/u.test(said) || ROW.test(said.trim()) ? 'nothing' : null;
}
