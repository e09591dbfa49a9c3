/**
 * A sentence for people that is written outside the page: by the relay, by a worker, or about a
 * model's server.
 *
 * It is English on the wire and in storage. A page in another language finds its translation by its
 * pattern, `said: {0} cannot be reached.`. `npm run texts` collects all sentences that are marked
 * with this tag.
 */
export const sentence = (strings: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  strings.reduce((text, string, at) => `${text}${values[at - 1] ?? ''}${string}`);
