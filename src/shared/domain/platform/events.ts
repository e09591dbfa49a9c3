/**
 * How a lower part tells whoever stands above it, which it does not know. Listeners are called in
 * the order in which they came. A listener that is added while others are told waits for the next
 * time, and one that is removed is not called any more.
 */

export interface Listeners<What extends readonly unknown[] = []> {
  tell(...what: What): void;
  /** Returns the way to stop. The same function counts once. */
  subscribe(listener: (...what: What) => void): () => void;
  count(): number;
}

/**
 * `onError` is given what a listener throws, and the others are told all the same. Without it the
 * caller of `tell` gets it.
 */
export function createListeners<What extends readonly unknown[] = []>(
  onError?: (error: unknown) => void,
): Listeners<What> {
  const listeners = new Set<(...what: What) => void>();
  return {
    tell(...what) {
      for (const listener of [...listeners]) {
        if (!listeners.has(listener)) continue;
        try {
          listener(...what);
        } catch (error) {
          if (!onError) throw error;
          onError(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    count: () => listeners.size,
  };
}

/** Several kinds of news, each with its name. */
export interface Events<Told extends Record<string, readonly unknown[]>> {
  tell<Name extends keyof Told>(name: Name, ...what: Told[Name]): void;
  /** Returns the way to stop. */
  on<Name extends keyof Told>(name: Name, listener: (...what: Told[Name]) => void): () => void;
}

export function createEvents<Told extends Record<string, readonly unknown[]>>(): Events<Told> {
  const listeners: { [Name in keyof Told]?: Listeners<Told[Name]> } = {};
  return {
    tell: (name, ...what) => listeners[name]?.tell(...what),
    on(name, listener) {
      const named = (listeners[name] ??= createListeners<Told[typeof name]>());
      return named.subscribe(listener);
    },
  };
}
