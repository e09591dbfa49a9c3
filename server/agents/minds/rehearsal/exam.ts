/**
 * The demo sits an exam about an agent. It does not think: a question is the beginning of a line,
 * and the answer is how the line goes on in what it was given.
 */
import {
  ANSWERS_REQUEST,
  GRADES_REQUEST,
  objectsIn,
  QUESTIONS_REQUEST,
} from '../../../../src/shared/domain/exam-requests.ts';
import { plainAnswer, plainQuestions } from '../../../../src/shared/domain/plain-exam.ts';
import { unquote } from '../../../../src/shared/domain/quoting.ts';
import type { Reading } from './reading.ts';

const DOES_NOT_KNOW: Readonly<Record<string, string>> = {
  English: 'I do not know.',
  German: 'Das weiß ich nicht.',
};
const inLines = (values: readonly object[]): string => values.map((value) => JSON.stringify(value)).join('\n');

/** What such a request asks for. Null: it is another request. */
export function sitExam({ system, last, language }: Pick<Reading, 'system' | 'last' | 'language'>): string | null {
  const text = last.texts.join('\n');
  const [given = '', wanted] =
    [QUESTIONS_REQUEST, ANSWERS_REQUEST, GRADES_REQUEST]
      .flatMap((request) => (text.includes(request) ? [text.split(request)] : []))
      .find((parts) => parts.length > 1) ?? [];
  if (wanted === undefined) return null;
  const quoted = unquote(wanted.slice(wanted.indexOf(']\n\n') + 3));
  if (text.includes(GRADES_REQUEST))
    return inLines(
      objectsIn(quoted).map(({ n, expected, a, b }) => ({
        n,
        a: String(a).includes(String(expected)),
        b: String(b).includes(String(expected)),
      })),
    );
  const soul = /<your-soul>([\s\S]*?)<\/your-soul>/.exec(system)?.[1] ?? '';
  if (text.includes(ANSWERS_REQUEST))
    return inLines(
      quoted.split('\n').map((line, i) => {
        const answer = plainAnswer(line.replace(/^\d+\. /, ''), `${soul}\n${given}`);
        return { n: i + 1, answer: answer === '' ? DOES_NOT_KNOW[language.name] : answer };
      }),
    );
  const [memory = '', conversation = ''] = given.split('<previous-session>');
  return inLines(
    plainQuestions(
      [
        { topic: 'soul', text: soul },
        { topic: 'memory', text: memory },
        { topic: 'conversation', text: conversation },
      ],
      language.name,
    ),
  );
}
