/**
 * Characters that nobody sees, and that minds and shells read: they can turn what stands there
 * round, or hide a part of it (CVE-2021-42574, "Trojan Source"; Unicode Technical Report 36).
 */

/** Formats, controls but line breaks and tabs, and fillers that are drawn as nothing. */
const UNSEEN = '\\p{Cf}\\p{Zl}\\p{Zp}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u115f\\u1160\\u2800\\u3164\\uffa0';
/** Not what joins letters and pictures: many scripts are not written without. */
const IN_PROSE = new RegExp(`(?![\\u200c\\u200d])[${UNSEEN}]`, 'gu');
/** Other spaces too, which separate nothing, and what chooses between forms of a character. */
const IN_CODE = new RegExp(`(?! )[${UNSEEN}\\p{Zs}\\ufe00-\\ufe0f]`, 'gu');

const named = (char: string) => `⟨U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** A text for people, each such character by its number. */
export const revealed = (text: string): string => text.replace(IN_PROSE, named);

/** As `revealed`, for what a machine takes by the letter: a command, an address. */
export const revealedCode = (text: string): string => text.replace(IN_CODE, named);

/**
 * As `revealedCode`, on one line: a line break by its number too, so that nothing passes for the
 * next line.
 */
export const revealedLine = (text: string): string => revealedCode(text).replace(/[\n\t]/g, named);
