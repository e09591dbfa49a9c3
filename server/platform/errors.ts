/** The relay cannot start. The message is one line for the person at the terminal. */
export class StartError extends Error {
  override name = 'StartError';
  /** 2: what was asked for makes no sense. 1: it does, and cannot be done here and now. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The code of an error of the system, as `ENOENT`; '': it has none. */
export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
