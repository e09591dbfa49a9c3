/** What is read aloud of a message, and in which voice. */
import { t } from '../../language/t.ts';

/** Characters per utterance: network voices stop after about fifteen seconds. */
const MOST_AT_ONCE = 220;
/** Pitches that distinguish voices, where a language has few. */
const PITCHES = [1, 0.82, 1.18];

/** Markdown as people would read it aloud: without its syntax, and without code. */
export function wordsToSay(markdown: string): string {
  return markdown
    .replace(/^(`{3,}|~{3,})[^\n]*\n[^]*?(^\1[`~]*\s*$|(?![^]))/gm, () => `${t`(code)`}\n`)
    .replace(/\$\$[^]*?\$\$/g, () => t`(formula)`)
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<?\bhttps?:\/\/([^\s/<>]+)[^\s<>]*>?/g, '$1')
    .replace(/^\s{0,3}(#{1,6}|>+|[-*+]|\d+[.)])\s+/gm, '')
    .replace(/^[ \t]*\|?([ \t]*:?-+:?[ \t]*\|)+[ \t]*:?-*:?[ \t]*$/gm, '')
    .replace(/[ \t]*\|[ \t]*/g, ', ')
    .replace(/(\*\*|__|~~|`)(?=\S)([^\n]*?\S)\1/g, '$2')
    .replace(/(^|[\s(])[*_](?=\S)([^*_\n]*?\S)[*_](?=[\s.,:;!?)]|$)/gm, '$1$2')
    .replace(/^[, \t]+|[, \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

/** Whole sentences, as many as fit into one utterance. A longer sentence is split between words. */
export function piecesToSay(text: string, most = MOST_AT_ONCE): string[] {
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)].flatMap(
    ({ segment }) =>
      segment.length <= most
        ? [segment]
        : (segment.match(new RegExp(`[^]{1,${most}}(?=\\s|$)|[^]{1,${most}}`, 'gu')) ?? []),
  );
  const pieces: string[] = [];
  for (const sentence of sentences) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + sentence.length <= most) pieces[pieces.length - 1] = last + sentence;
    else pieces.push(sentence);
  }
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}

type Voice = Pick<SpeechSynthesisVoice, 'voiceURI' | 'lang' | 'localService'>;

/**
 * Voices of this language. Voices on the device come before those that send the text to a server.
 */
export function voicesFor<V extends Voice>(voices: readonly V[], language: string): readonly V[] {
  const speaking = voices.filter(({ lang }) => lang.toLowerCase().split(/[-_]/)[0] === language);
  const local = speaking.filter(({ localService }) => localService);
  return local.length > 0 ? local : speaking;
}

/**
 * The voice of an agent or the person: the chosen one if available, otherwise always the same one
 * of the language. `voice` is null if none speaks it; the browser then uses its default.
 */
export function voiceOf<V extends Voice>(
  who: string,
  {
    voices,
    language,
    chosen,
  }: { readonly voices: readonly V[]; readonly language: string; readonly chosen: string | null },
): { readonly voice: V | null; readonly pitch: number } {
  const own = voices.find(({ voiceURI }) => voiceURI === chosen);
  if (own) return { voice: own, pitch: 1 };
  const offered = voicesFor(voices, language);
  const sum = [...who].reduce((all, letter) => (all * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003, 7);
  return {
    voice: offered[sum % Math.max(1, offered.length)] ?? null,
    pitch: offered.length >= PITCHES.length ? 1 : (PITCHES[sum % PITCHES.length] ?? 1),
  };
}
