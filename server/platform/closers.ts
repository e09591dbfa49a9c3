/**
 * Collects what was opened, and closes it from the last to the first. If one fails to close, the
 * others are closed anyway.
 */
export function createClosers(onError: (error: unknown) => void) {
  const closers: (() => Promise<void>)[] = [];
  return {
    add: (closer: () => Promise<void>) => void closers.push(closer),
    async closeAll() {
      for (let closer = closers.pop(); closer; closer = closers.pop()) await closer().catch(onError);
    },
  };
}

export type Closers = ReturnType<typeof createClosers>;
