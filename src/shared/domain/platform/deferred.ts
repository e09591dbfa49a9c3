/**
 * A promise with its resolve and reject functions. `Promise.withResolvers` came with Safari 17.4
 * and Node 22.
 */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  /** Only the first call of `resolve` or `reject` counts. */
  readonly resolve: (value: Value | PromiseLike<Value>) => void;
  readonly reject: (reason: unknown) => void;
}

export function createDeferred<Value = void>(): Deferred<Value> {
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  let reject: Deferred<Value>['reject'] = () => undefined;
  const promise = new Promise<Value>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  return { promise, resolve, reject };
}
