/**
 * Forbids iterating a stream. Safari cannot do it, although TypeScript's `lib` says that every
 * browser can.
 *
 * Methods that return `never` make `for await` and `yield*` over a stream a type error. Use
 * `getReader`, or `chunksOf` from `old-browsers.ts`.
 */
interface ReadableStream<R> {
  [Symbol.asyncIterator](options?: ReadableStreamIteratorOptions): never;
  values(options?: ReadableStreamIteratorOptions): never;
}
