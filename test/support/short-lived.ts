/**
 * Flags of Node for processes that live for seconds: WebAssembly, which the embedded Postgres is,
 * runs as its first compiler makes it. The second one would be busy for half of every start.
 */
export const SHORT_LIVED = ['--liftoff-only'];
