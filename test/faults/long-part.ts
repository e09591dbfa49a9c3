export interface LongPart {
  readonly name: string;
  /** The tests that do the same in seconds, in `npm run verify`; below `test`. */
  readonly short: readonly string[];
  /** The seeds to run so that this one meets what it met. */
  with(seed: number): readonly number[];
  /**
   * Runs the seeds and prints a line for each; answers with a line about all. Rejects with the seed
   * that failed. `only`: what `--only` names.
   */
  run(seeds: readonly number[], only?: readonly string[]): Promise<string>;
}
