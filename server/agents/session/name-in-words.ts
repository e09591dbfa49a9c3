/** The name in an answer to the question for it, of a model that uses no tools. Pure. */
import { checkName } from '../../../src/shared/domain/names.ts';

/** Models that think aloud do so in the same text. */
const THOUGHTS = /<(think|thinking|reasoning)>[\s\S]*?(?:<\/\1>|$)/gi;
const BEFORE =
  /^(?:(?:my|the) (?:chosen )?name (?:is|shall be|will be)|name\s*[:=]|i(?:'m| am| choose| would choose|'ll be)(?: called| named)?|call me|choose_name\s*[:(]?|ich hei(?:ß|ss)e|mein name ist)\s*:?\s*/i;
const AROUND = /^[\s"'“”„‚‘’«»*_`#()[\]{}>–—:-]+|[\s"'“”„‚‘’«»*_`()[\]{}.!,;:–—-]+$/gu;
/** Words of a name; a longer line is a sentence. */
const MOST_WORDS = 3;

/** Null: it holds none. `human`: what the person is called. */
export function nameInWords(text: string, human: string): string | null {
  const lines = text.replaceAll(THOUGHTS, '').split('\n');
  for (const line of lines) {
    const bare = line.replaceAll(AROUND, '');
    const name = bare.replace(BEFORE, '').replaceAll(AROUND, '');
    if (name === '' || name.split(/\s+/).length > MOST_WORDS || !/\p{L}/u.test(name)) continue;
    const checked = checkName(name, 'agent', human);
    if (checked.ok) return checked.name;
  }
  return null;
}
