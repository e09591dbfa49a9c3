/**
 * What a lower part tells whoever stands above it, which it does not know: typed by name, and heard
 * in the order of coming.
 */
export interface Events<Told extends Record<string, readonly unknown[]>> {
  tell<Name extends keyof Told>(name: Name, ...what: Told[Name]): void;
  /** What a listener throws, whoever tells it gets. Returns the way to stop. */
  on<Name extends keyof Told>(name: Name, listener: (...what: Told[Name]) => void): () => void;
}

export function createEvents<Told extends Record<string, readonly unknown[]>>(): Events<Told> {
  const listeners: { [Name in keyof Told]?: Set<(...what: Told[Name]) => void> } = {};
  return {
    tell(name, ...what) {
      for (const listener of listeners[name] ?? []) listener(...what);
    },
    on(name, listener) {
      (listeners[name] ??= new Set()).add(listener);
      return () => void listeners[name]?.delete(listener);
    },
  };
}
