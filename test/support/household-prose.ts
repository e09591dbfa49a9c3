/**
 * Words without meaning, in the lengths that messages have, cut from one long text made by chance.
 */

const SYLLABLES = [
  'ka',
  'lo',
  'mi',
  'ren',
  'tas',
  'vo',
  'ein',
  'der',
  'sha',
  'qui',
  'ba',
  'nu',
  'zel',
  'ost',
  'ir',
  'pha',
];
/** Now and then between words: what people write beside letters. */
const ODD = ['🪺', 'naïve', 'مرحبا', '**so**', '`code()`', '\n\n- ', '\n\n', '—', '“yes”', '& <b>', '雪'];
const LENGTH = 200_000;

/** Share of messages, and their length in UTF-16 units. */
const LENGTHS = [
  { upTo: 0.08, least: 5, most: 100 },
  { upTo: 0.7, least: 100, most: 600 },
  { upTo: 0.95, least: 600, most: 2_000 },
  { upTo: 0.992, least: 2_000, most: 6_000 },
  { upTo: 1, least: 18_000, most: 22_000 },
] as const;

export interface Prose {
  /** A text of this many UTF-16 units. */
  (length: number): string;
  /** A text of the length of a message. */
  message(): string;
}

export function createProse(random: () => number): Prose {
  const words: string[] = [];
  for (let length = 0; length < LENGTH;) {
    const syllables = 1 + Math.floor(random() * 3);
    const odd = random() < 0.02;
    const word = odd
      ? (ODD[Math.floor(random() * ODD.length)] ?? '')
      : Array.from({ length: syllables }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)] ?? '').join('');
    words.push(word);
    length += word.length + 1;
  }
  const text = words.join(' ');
  const cut = (length: number) => {
    const from = Math.floor(random() * (text.length - length));
    return text.slice(from, from + length);
  };
  return Object.assign(cut, {
    message() {
      const kind = random();
      const { least, most } = LENGTHS.find(({ upTo }) => kind < upTo) ?? LENGTHS[1];
      return cut(least + Math.floor(random() * (most - least + 1)));
    },
  });
}
