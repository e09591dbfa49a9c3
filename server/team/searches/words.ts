/** Searches texts by the beginnings of words, without an index. Pure. */

/** Without case and accents. */
const folded = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '');
const wordsOf = (text: string): readonly string[] => folded(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
const UNSPACED = /[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;

/** When no text has all words, one in this many words may be missing. */
const ONE_MISSING_OF = 4;

/** The items with the most of these words, in their order. Empty: none has enough of them. */
export function withMostWords<Item>(
  items: readonly Item[],
  query: string,
  textOf: (item: Item) => string,
): readonly Item[] {
  const queryWords = [...new Set(wordsOf(query))];
  const counted = items.map((item) => {
    const words = wordsOf(textOf(item));
    const held = queryWords.filter((word) =>
      words.some((each) => each.startsWith(word) || (UNSPACED.test(word) && each.includes(word))),
    ).length;
    return { item, held };
  });
  const most = Math.max(0, ...counted.map(({ held }) => held));
  const least = queryWords.length - Math.floor(queryWords.length / ONE_MISSING_OF);
  if (most === 0 || most < least) return [];
  return counted.filter(({ held }) => held === most).map(({ item }) => item);
}
