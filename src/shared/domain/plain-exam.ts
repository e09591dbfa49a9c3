/**
 * An exam without a model: each question gives the beginning of a line, and asks how it goes on.
 * What is not in a text cannot be answered from it. Pure.
 */
import { EXAM_LIMITS, type ExamQuestion, type ExamTopic } from './exams.ts';
import { unquote } from './quoting.ts';

const WORD_END = /\s+/;
const LEAST_WORDS = 6;
const MOST_CHARACTERS = 240;
const linesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) =>
      unquote(line)
        .replace(/^(?:> )*[-*#\s]*/, '')
        .trim(),
    )
    .filter((line) => !/^[[<]/.test(line) && line.length <= MOST_CHARACTERS);
/** The questions by language, in its English name. */
const asksInEnglish = (start: string) => `How does this go on: “${start} …”?`;
const ASKS: Readonly<Record<string, (start: string) => string>> = {
  English: asksInEnglish,
  German: (start) => `Wie geht das weiter: „${start} …“?`,
};
const ASKED = /^(?:How does this go on: “(.+) …”|Wie geht das weiter: „(.+) …“)\?$/;

/**
 * Questions to lines of these texts, spread evenly over each. `language`: as in `ASKS`, or English.
 */
export function plainQuestions(
  parts: readonly { readonly topic: ExamTopic; readonly text: string }[],
  language = 'English',
): readonly ExamQuestion[] {
  const phrases = ASKS[language] ?? asksInEnglish;
  const share = Math.floor(EXAM_LIMITS.questions / Math.max(1, parts.length));
  return parts.flatMap(({ topic, text }) => {
    const lines = linesIn(text).filter((line) => line.split(WORD_END).length >= LEAST_WORDS);
    const step = Math.max(1, lines.length / share);
    return Array.from({ length: Math.min(share, lines.length) }, (_, i): ExamQuestion => {
      const words = (lines[Math.floor(i * step)] ?? '').split(WORD_END);
      const half = Math.ceil(words.length / 2);
      return { topic, question: phrases(words.slice(0, half).join(' ')), expected: words.slice(half).join(' ') };
    });
  });
}
/** The answer to such a question from this text. Empty: it does not have the line. */
export function plainAnswer(question: string, text: string): string {
  const [, english, start = english] = ASKED.exec(question) ?? [];
  if (start === undefined) return '';
  const lines = linesIn(text).map((line) => line.split(WORD_END).join(' '));
  return lines.find((line) => line.startsWith(`${start} `))?.slice(start.length + 1) ?? '';
}
