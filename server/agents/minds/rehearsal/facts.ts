/**
 * What the rehearsal mind remembers: what the person said before it slept, and what they said
 * since.
 */
import { parseTranscript } from '../../../../src/shared/domain/transcript.ts';
import { spokenIn } from './hearing.ts';
import { attached, isMessage, type Reading } from './reading.ts';

export interface Fact {
  readonly text: string;
  /** From the conversation before this one. */
  readonly before: boolean;
}

/** What the person said, oldest first, without what is asked just now. */
export function readFacts(reading: Reading): Fact[] {
  const prompt = reading.turns[0]?.texts[0] ?? '';
  const before = parseTranscript(reading.isLead ? reading.system : prompt).filter(
    (message) => message.author === reading.human && message.text !== '',
  );
  const since = reading.turns.slice(reading.isLead ? 0 : 1, -1).filter((turn) => turn.role === 'user');
  return [
    ...before.map(({ text }) => ({ text, before: true })),
    ...since.flatMap((turn) => turn.texts.filter((text) => !isMessage(text)).map((text) => ({ text, before: false }))),
  ].flatMap(({ text, before }) => {
    // It saw nothing of what came along, and has nothing to tell of it.
    const { said, files } = attached([text]);
    return files.length === 0 ? [{ text, before }] : said === '' ? [] : [{ text: said, before }];
  });
}

const EMPTY = new Set(
  'a about again an and any are as at be been but can could did do does for from had has have how i if in is it know me mine my of on or our recall remember remind said say so still tell than that the their them then there they thing this to today told us was we were what when where which who why will with would you your yesterday'.split(
    ' ',
  ),
);
const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.filter((word) => !EMPTY.has(word) && word.length > 1) ?? [];
/** In German too, as far as they are no English words that say something. */
const EMPTY_GERMAN = new Set(
  'aber als am auf bei bitte das dass dem den der des dich dir du ein eine einen er erinnerst erinnere es für gesagt gesprochen erzählt hab habe haben hast ich ihr im ist kennst letztes mal mein meine mich mir mit noch nicht oder sag sagte sich sie sind über und uns von vom war warum was weißt weisst wer wie wir wo wofür worüber zu zum zur'.split(
    ' ',
  ),
);
const stem = (word: string) => word.replace(/(?:ing|ed|es|s)$/, '');

/** Something that the person wished to be kept. */
const TO_KEEP = /\b(?:remember|keep in mind|note that|don[’']t forget|merke? dir|vergiss nicht|denk daran)\b/i;

/**
 * The thing said that shares most with the question; the latest of equals. A question that names
 * nothing (“What did I tell you?”) is after what was to be kept last. Null where there is nothing.
 */
export function findFact(question: string, facts: readonly Fact[]): Fact | null {
  const empty = spokenIn(question) === 'German' ? EMPTY_GERMAN : new Set<string>();
  const asked = new Set(
    wordsOf(question)
      .filter((word) => !empty.has(word))
      .map(stem),
  );
  if (asked.size === 0) return facts.findLast(({ text }) => TO_KEEP.test(text) && !/\?\s*$/.test(text)) ?? null;
  let best: Fact | null = null;
  let bestScore = 0;
  for (const fact of facts) {
    if (/\?\s*$/.test(fact.text)) continue;
    const score = new Set(
      wordsOf(fact.text)
        .map(stem)
        .filter((word) => asked.has(word)),
    ).size;
    if (score > 0 && score >= bestScore) {
      best = fact;
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

/** The same as the end of a sentence: one that was quoted with its stop gets no second one. */
export function quoteLast(text: string, most?: number): string {
  const quoted = quote(text, most);
  return /[.!?…]”$/u.test(quoted) ? quoted : `${quoted}.`;
}
