/** The relay cannot start. The message is one line for the terminal. */
export class StartError extends Error {
  override name = 'StartError';
  /** 2: the request is invalid. 1: it is valid, but cannot be done here and now. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The code of a system error, such as `ENOENT`; '': none. */
export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
