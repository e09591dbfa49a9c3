/** Some of the list, as chance has it. */
export function pick<T>(random: () => number, list: readonly T[], count: number): T[] {
  return list
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ item }) => item);
}
