/** Words looked for in the last conversation of a standing copy: by their beginnings, without an index. Pure. */
import { parseTranscript, type TranscriptMessage } from '../../src/domain/transcript.ts';
import { SEARCH_LIMITS } from './settings.ts';

/** Without case and accents. */
const folded = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '');
const wordsOf = (text: string): readonly string[] => folded(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
const UNSPACED = /[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;

/** The messages with the most of these words, the newest first: with all of them, or, where none has all, with one in four missing. */
export function searchTranscript(transcript: string, query: string): readonly TranscriptMessage[] {
  const wanted = [...new Set(wordsOf(query))];
  const counted = parseTranscript(transcript).map((message) => {
    const words = wordsOf(message.text);
    const held = wanted.filter((word) =>
      words.some((each) => each.startsWith(word) || (UNSPACED.test(word) && each.includes(word))),
    ).length;
    return { message, held };
  });
  const most = Math.max(0, ...counted.map(({ held }) => held));
  const least = wanted.length - Math.floor(wanted.length / SEARCH_LIMITS.oneMissingOf);
  if (most === 0 || most < least) return [];
  return counted
    .filter(({ held }) => held === most)
    .map(({ message }) => message)
    .reverse();
}
