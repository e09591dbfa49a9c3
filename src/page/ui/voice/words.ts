/** What of a message is read aloud, and by which voice. */
import { t } from '../../language/t.ts';

// What this browser has for speech; the parts that use it are fetched when they are used.

/**
 * The part of the Web Speech API's recognition that is used here:
 * https://webaudio.github.io/web-speech-api/
 */
export interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  stop(): void;
  abort(): void;
}
type MakesRecognition = new () => Recognition;

/** Chromium and Safari have it under a name of theirs, Firefox not at all. */
export function recognitionOf(page: object = globalThis): MakesRecognition | null {
  const { SpeechRecognition, webkitSpeechRecognition } = page as Readonly<Record<string, MakesRecognition | undefined>>;
  return SpeechRecognition ?? webkitSpeechRecognition ?? null;
}

export const canReadAloud = (): boolean => 'speechSynthesis' in globalThis;

/** Characters of one utterance: voices of the network stop after some fifteen seconds. */
const MOST_AT_ONCE = 220;
/** Voices that differ by their pitch alone, where a language has few. */
const PITCHES = [1, 0.82, 1.18];

/**
 * Markdown as somebody would read it out: without its signs, and without code, which nobody wants
 * to hear.
 */
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

/** In sentences, as many together as one utterance takes; a longer one is cut between words. */
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
 * Those that speak this language; those on the device before those that send the text to somebody.
 */
export function voicesFor<V extends Voice>(voices: readonly V[], language: string): readonly V[] {
  const speaking = voices.filter(({ lang }) => lang.toLowerCase().split(/[-_]/)[0] === language);
  const local = speaking.filter(({ localService }) => localService);
  return local.length > 0 ? local : speaking;
}

/**
 * The voice of somebody: the one that was chosen, where it is there; else always the same of those
 * that speak the language. `voice` is null where none speaks it: then the browser takes what it
 * has.
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
