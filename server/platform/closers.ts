/**
 * Everything that was opened, to be closed from the last to the first. A failure to close one does
 * not keep the others.
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
