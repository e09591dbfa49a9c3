/**
 * A sentence for people that is said where no page is: by the relay, by a worker, of a model's
 * server. It is English on the wire and wherever it is kept; a page in another language finds it in
 * its catalogue by its form, `said: {0} cannot be reached.`, and says it in its own. `npm run
 * texts` finds what is marked so.
 */
export const sentence = (strings: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  strings.reduce((text, string, at) => `${text}${values[at - 1] ?? ''}${string}`);
