/**
 * What is said in English where no page is (the relay, a worker, a model's server), in the language
 * of the page.
 */
import { SOURCE, spoken } from './catalogue.ts';

/** Before the form of such a sentence in a catalogue: see `src/shared/domain/sentence.ts`. */
export const FORM = 'said: ';

interface Form {
  readonly shape: RegExp;
  readonly text: string;
}
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const lengthOf = (key: string) => key.replace(/\{\d+\}/g, '').length;

let forms: readonly Form[] | undefined;
/** Those that say more of themselves first: a form of few words fits much. */
const allForms = (): readonly Form[] =>
  Object.entries(spoken.texts)
    .flatMap(([key, text]) => (key.startsWith(FORM) && typeof text === 'string' ? [[key, text] as const] : []))
    .sort(([one], [other]) => lengthOf(other) - lengthOf(one))
    .map(([key, text]) => {
      const pieces = key.slice(FORM.length).split(/\{\d+\}/);
      return { shape: new RegExp(`^${pieces.map(escaped).join('([^]*?)')}$`), text };
    });

/**
 * `code`: of a problem document of the relay (`about:roost/too-large`), whose text may hold the
 * relay's own words as `{0}`. What no catalogue knows stays as it was said: rather that than
 * nothing.
 */
export function retold(said: string, code?: string): string {
  if (spoken.language === SOURCE) return said;
  const byCode = code === undefined ? undefined : spoken.texts[code];
  if (typeof byCode === 'string') return byCode.replace('{0}', () => retold(said));
  forms ??= allForms();
  for (const { shape, text } of forms) {
    const found = shape.exec(said);
    // What was put in may be such a sentence itself.
    if (found) return text.replace(/\{(\d+)\}/g, (_, hole: string) => retold(found[Number(hole) + 1] ?? ''));
  }
  return said;
}
