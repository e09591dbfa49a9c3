/**
 * Events, by which a lower layer notifies higher ones without knowing them.
 *
 * Listeners are called in the order in which they subscribed. A listener that is added during a
 * notification waits for the next one. A removed listener is not called any more.
 */

export interface Listeners<What extends readonly unknown[] = []> {
  tell(...what: What): void;
  /** Returns the function that unsubscribes. The same function counts once. */
  subscribe(listener: (...what: What) => void): () => void;
  count(): number;
}

/**
 * `onError` receives what a listener throws, and the other listeners are still called. Without it,
 * `tell` throws.
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

/** Several named events. */
export interface Events<Told extends Record<string, readonly unknown[]>> {
  tell<Name extends keyof Told>(name: Name, ...what: Told[Name]): void;
  /** Returns the function that unsubscribes. */
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
