/** Adds to what is remembered; the oldest goes when there are more than `most`. */
export function keepFew<Item>(kept: Set<Item>, item: Item, most: number): void {
  kept.add(item);
  const [oldest] = kept;
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
