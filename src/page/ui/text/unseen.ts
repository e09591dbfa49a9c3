/**
 * Reveals invisible characters that models and shells read. They can reverse or hide a part of a
 * text (CVE-2021-42574, "Trojan Source"; Unicode Technical Report 36).
 */

/**
 * Format characters, controls except line breaks and tabs, and fillers that are drawn as nothing.
 */
const UNSEEN = '\\p{Cf}\\p{Zl}\\p{Zp}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u115f\\u1160\\u2800\\u3164\\uffa0';
/** Without joiners of letters and emoji, which many scripts need. */
const IN_PROSE = new RegExp(`(?![\\u200c\\u200d])[${UNSEEN}]`, 'gu');
/** Includes other spaces, which separate nothing in code, and variation selectors. */
const IN_CODE = new RegExp(`(?! )[${UNSEEN}\\p{Zs}\\ufe00-\\ufe0f]`, 'gu');

const named = (char: string) => `⟨U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** A text for people, with each such character as its number. */
export const revealed = (text: string): string => text.replace(IN_PROSE, named);

/** As `revealed`, for text that a machine interprets literally: a command, an address. */
export const revealedCode = (text: string): string => text.replace(IN_CODE, named);

/**
 * As `revealedCode`, on one line. Line breaks are revealed too, so that nothing passes for the next
 * line.
 */
export const revealedLine = (text: string): string => revealedCode(text).replace(/[\n\t]/g, named);
