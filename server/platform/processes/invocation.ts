/**
 * The arguments of a program, with the words of the relay and the text of others kept apart.
 *
 * Text of others, such as the name of a branch, must never be read as an option. So an invocation
 * names its options and its operands separately, `argumentsOf` puts the mark between them that ends
 * the options, and an operand that begins with `-` is refused all the same.
 */

export interface Invocation {
  readonly program: string;
  /**
   * Words that the relay itself writes, with the values of options. In a program that the person
   * named, all of its arguments.
   */
  readonly options?: readonly string[];
  /** Ends the options. Left out: `--`. Null: this program knows none. */
  readonly mark?: '--' | '--end-of-options' | null;
  /** Text that may come from elsewhere. None may begin with `-`. */
  readonly operands?: readonly string[];
  /** Operands that come after a `--` of their own, such as the paths of git. */
  readonly paths?: readonly string[];
  /** The program that this one starts. */
  readonly runs?: Invocation;
}

/** An operand would be read as an option, or no program could be given it. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

const shown = (word: string) => JSON.stringify(word.length > 80 ? `${word.slice(0, 80)}…` : word);

/** All arguments of the program, in order. Throws `ArgumentError`. */
export function argumentsOf({ program, options = [], mark = '--', operands = [], paths = [], runs }: Invocation) {
  const rest: string[] = runs === undefined ? [] : [runs.program, ...argumentsOf(runs)];
  for (const operand of operands)
    if (operand.startsWith('-'))
      throw new ArgumentError(`${program} is not given ${shown(operand)}: it would read it as an option.`);
  const named = [...operands, ...(paths.length === 0 ? [] : ['--', ...paths]), ...rest];
  const ends = mark === null || (operands.length === 0 && runs === undefined) ? [] : [mark];
  const words = [...options, ...ends, ...named];
  for (const word of [program, ...words])
    if (word.includes('\0')) throw new ArgumentError(`${program} cannot be given ${shown(word)}.`);
  return words;
}
