/** The search for tasks by their words. Pure: the relay and the page compare in the same way. */

/** The words of a search, in lower case. */
export const wordsIn = (text: string): readonly string[] => [
  ...new Set(text.normalize('NFC').toLowerCase().split(/\s+/).filter(Boolean)),
];
/** Words that this text does not contain. */
export function missingWords(text: string, words: readonly string[]): readonly string[] {
  const said = text.normalize('NFC').toLowerCase();
  return words.filter((word) => !said.includes(word));
}
/** What the words of a search are looked for in, as far as a card has it. */
export const cardText = ({
  number,
  title,
  labels,
}: {
  readonly number: number;
  readonly title: string;
  readonly labels: readonly string[];
}): string => `#${number} ${title} ${labels.join(' ')}`;
