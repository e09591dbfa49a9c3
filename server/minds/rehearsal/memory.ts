/** What the rehearsal mind remembers: what the person said before it slept, and what they said since. */
import { isLetter, type Reading } from './reading.ts';

export interface Remembered {
  readonly text: string;
  /** From the conversation before this one. */
  readonly before: boolean;
}

/** A quotation that looks like one is none. */
const HEADER = /^(?!> )(.{1,200}) \((\d{4}-\d\d-\d\d \d\d:\d\d) UTC\):$/;

/** Dates of sessions, and what was left out. */
const ASIDE = /^(?:=== \d{4}-\d\d-\d\d ===|\[\d[^\]]*\])$/;

/** The messages of a transcript inside a prompt, oldest first. */
export function transcriptIn(prompt: string): { author: string; text: string }[] {
  const messages: { author: string; lines: string[] }[] = [];
  const lines = prompt.split('\n');
  // A soul, which comes before it, may speak of such a thing too; within it, such a line stands as a quotation.
  const from = lines.lastIndexOf('<previous-session>');
  const until = lines.indexOf('</previous-session>', from);
  for (const line of lines.slice(from + 1, until < 0 ? undefined : until)) {
    const author = HEADER.exec(line)?.[1];
    if (author !== undefined) messages.push({ author, lines: [] });
    else if (!ASIDE.test(line)) messages.at(-1)?.lines.push(line);
  }
  return messages.map(({ author, lines }) => ({ author, text: lines.join('\n').trim() }));
}

/** What the person said, oldest first, without what is asked just now. */
export function remember(reading: Reading): Remembered[] {
  const prompt = reading.turns[0]?.texts[0] ?? '';
  const before = transcriptIn(reading.isLead ? reading.system : prompt).filter((message) => message.author === reading.human && message.text !== '');
  const since = reading.turns.slice(reading.isLead ? 0 : 1, -1).filter((turn) => turn.role === 'user');
  return [...before.map(({ text }) => ({ text, before: true })), ...since.flatMap((turn) => turn.texts.filter((text) => !isLetter(text)).map((text) => ({ text, before: false })))];
}

const EMPTY = new Set(
  'a about again an and any are as at be been but can could did do does for from had has have how i if in is it know me mine my of on or our recall remember remind said say so still tell than that the their them then there they thing this to today told us was we were what when where which who why will with would you your yesterday'.split(' '),
);
const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.filter((word) => !EMPTY.has(word) && word.length > 1) ?? [];
const stem = (word: string) => word.replace(/(?:ing|ed|es|s)$/, '');

/** The thing said that shares most with the question; the latest of equals. Null where nothing does. */
export function recall(question: string, memories: readonly Remembered[]): Remembered | null {
  const asked = new Set(wordsOf(question).map(stem));
  let best: Remembered | null = null;
  let bestScore = 0;
  for (const memory of memories) {
    if (/\?\s*$/.test(memory.text)) continue;
    const score = new Set(wordsOf(memory.text).map(stem).filter((word) => asked.has(word))).size;
    if (score > 0 && score >= bestScore) {
      best = memory;
      bestScore = score;
    }
  }
  return best;
}

/** A quotation that fits in a sentence. */
export function quote(text: string, most = 160): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= most) return `“${line}”`;
  return `“${line.slice(0, most).replace(/\s+\S*$/, '')} …”`;
}
