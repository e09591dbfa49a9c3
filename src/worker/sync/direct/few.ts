/** Adds an item to a bounded set. Removes the oldest where there are more than `most`. */
export function keepFew<Item>(kept: Set<Item>, item: Item, most: number): void {
  kept.add(item);
  const [oldest] = kept;
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}
